import * as pennon from "@pennon/core";
import { answers } from "./answers.js";

answers(pennon, process.argv[2]).then((said) => console.log(JSON.stringify(said)));
