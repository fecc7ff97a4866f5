import { existsSync } from "node:fs";
import { describe } from "@jest/globals";
import { CHROMIUM } from "./launch-chromium.js";

const isThere = existsSync(CHROMIUM);

/** Tests that need a browser. Where CI is set they run, and fail, also without one. */
export const describeWithChromium: typeof describe | typeof describe.skip =
  isThere || process.env["CI"] !== undefined ? describe : describe.skip;

if (!isThere) {
  console.warn(
    "No Chromium: the tests that need one are skipped. Install it (apt-get install chromium), or set CHROMIUM to its path.",
  );
}
