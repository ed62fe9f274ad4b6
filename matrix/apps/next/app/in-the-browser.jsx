"use client";

import * as pennon from "@pennon/core";
import { useEffect, useState } from "react";
import { answers } from "../answers";

export function InTheBrowser({ baseUrl }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    answers(pennon, baseUrl).then((said) => setSaid(JSON.stringify(said)));
  }, [baseUrl]);
  return <output>{said}</output>;
}
