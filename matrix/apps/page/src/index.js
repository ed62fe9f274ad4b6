import * as pennon from "@pennon/core";
import { answers } from "../answers.js";

const baseUrl = new URLSearchParams(location.search).get("server") ?? location.origin;
answers(pennon, baseUrl).then((said) => {
  document.querySelector("output").textContent = JSON.stringify(said);
});
