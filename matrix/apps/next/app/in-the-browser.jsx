"use client";

import * as pennon from "@pennon/core";
import { useEffect, useState } from "react";
import { answers } from "../answers";

export function InTheBrowser({ service }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    answers(pennon, service).then((said) => setSaid(JSON.stringify(said)));
  }, [service]);
  return <output>{said}</output>;
}
