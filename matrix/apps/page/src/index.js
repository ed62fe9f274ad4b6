import * as pennon from "@pennon/core";
import { answers } from "../answers.js";

const service = new URLSearchParams(location.search).get("service") ?? location.origin;
answers(pennon, service).then((said) => {
  document.querySelector("output").textContent = JSON.stringify(said);
});
