"use client";

import * as pennon from "@pennon/core";
import { useEffect, useState } from "react";
import { evaluateVectors } from "../evaluate-vectors";

export function InTheBrowser({ baseUrl }) {
  const [output, setOutput] = useState("");
  useEffect(() => {
    evaluateVectors(pennon, baseUrl).then((output) => setOutput(JSON.stringify(output)));
  }, [baseUrl]);
  return <output>{output}</output>;
}
