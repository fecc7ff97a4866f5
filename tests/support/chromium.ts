import { existsSync } from "node:fs";
import { describe } from "@jest/globals";
import { type Browser, chromium } from "playwright-core";

const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

const isThere = existsSync(PROGRAM);

/** Tests that need a browser. Where CI is set they run, and fail, also without one. */
export const describeWithChromium: typeof describe | typeof describe.skip =
  isThere || process.env["CI"] !== undefined ? describe : describe.skip;

if (!isThere) {
  console.warn(
    "No Chromium: the tests that need one are skipped. Install it (apt-get install chromium), or set CHROMIUM to its path.",
  );
}

/** A browser without a window, that asks nothing of the network by itself. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: PROGRAM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
