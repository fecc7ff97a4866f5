import { createHash } from "node:crypto";
import { expect, test } from "@jest/globals";
import { SCRIPT, SCRIPT_SHA } from "../../../src/redis/script.js";

test("the script is known by the hash of its text", () => {
  expect(SCRIPT_SHA).toBe(createHash("sha1").update(SCRIPT).digest("hex"));
});
