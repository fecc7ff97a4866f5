// Stands in for @jest/globals where jest does not run.
import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";
import { fn, spyOn } from "@vitest/spy";
import * as chai from "chai";

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from "@vitest/runner";

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);

export const expect = chai.expect;
export const jest = { fn, spyOn, setTimeout: () => undefined };

// Names of tests are made with JSON where jest prints values.
BigInt.prototype.toJSON ??= function toJSON() {
  return `${String(this)}n`;
};
