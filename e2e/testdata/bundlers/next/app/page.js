"use client";

import { useEffect } from "react";

export default function Page() {
  useEffect(() => void import("../src/main.js"), []);
  return null;
}
