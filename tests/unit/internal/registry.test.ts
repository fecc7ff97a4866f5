import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type * as RateLimit from "../../../src/rate-limit/index.js";
import type * as RegistryModule from "../../../src/internal/registry.js";
import { VERSION } from "../../../src/internal/version.js";
import { ManualClock } from "../../../src/testing/index.js";

const KEY = Symbol.for("tidegate/registry/v1");

/** Loads a further copy of a module and of all that it imports, as a second installation would. */
async function copyOf<M>(load: () => Promise<M>, version?: string): Promise<M> {
  let copy: M | undefined;
  await jest.isolateModulesAsync(async () => {
    if (version !== undefined) {
      jest.unstable_mockModule("../../../src/internal/version.js", () => ({ VERSION: version }));
    }
    copy = await load();
  });
  jest.unstable_unmockModule("../../../src/internal/version.js");
  return copy as M;
}

const registryCopy = (version?: string): Promise<typeof RegistryModule> =>
  copyOf(() => import("../../../src/internal/registry.js"), version);

let warnings: { message: string; options: unknown }[];

beforeEach(() => {
  warnings = [];
  jest.spyOn(process, "emitWarning").mockImplementation((message: string | Error, options?: unknown) => {
    warnings.push({ message: String(message), options });
  });
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe("registry", () => {
  test("two copies of one version share it, and their own state, without a warning", async () => {
    const [one, other] = [await registryCopy(), await registryCopy()];
    expect(one.registry).not.toBe(other.registry);
    expect(one.registry()).toBe(other.registry());
    expect(one.registry()).toBe((globalThis as Record<symbol, unknown>)[KEY]);
    expect(one.versionState()).toBe(other.versionState());
    expect(warnings).toEqual([]);
  });

  test("two versions share it, each with its own state, and one warning names both", async () => {
    const [one, other] = [await registryCopy(), await registryCopy("9.8.7")];
    expect(one.registry()).toBe(other.registry());
    expect(one.versionState()).not.toBe(other.versionState());
    expect([...one.registry().versions.keys()]).toEqual([VERSION, "9.8.7"]);
    (await registryCopy("9.8.7")).registry();
    (await registryCopy()).registry();
    expect(warnings).toEqual([
      {
        message: expect.stringContaining(
          `Two versions of tidegate run in this process: ${VERSION} and 9.8.7.`,
        ),
        options: { type: "TidegateWarning", code: "TIDEGATE_TWO_VERSIONS" },
      },
    ]);
  });

  test("cannot be replaced by an assignment", async () => {
    const { registry } = await registryCopy();
    const shared = registry();
    expect(Reflect.set(globalThis, KEY, {})).toBe(false);
    expect((await registryCopy()).registry()).toBe(shared);
  });
});

describe("limiters of two copies", () => {
  const limiterCopy = (): Promise<typeof RateLimit> =>
    copyOf(() => import("../../../src/rate-limit/index.js"));

  test("are watched by the observers of either", async () => {
    const [one, other] = [await limiterCopy(), await limiterCopy()];
    const seen: string[] = [];
    const ends = [one, other].map((copy, index) =>
      copy.observeLimiters({ granted: ({ limiter }) => seen.push(`${String(index)} sees ${limiter}`) }),
    );
    const clock = new ManualClock();
    await new one.RateLimiter({ maxRowsPerSecond: 1, name: "one", clock }).acquire();
    await new other.RateLimiter({ maxRowsPerSecond: 1, name: "other", clock }).acquire();
    expect(seen).toEqual(["0 sees one", "1 sees one", "0 sees other", "1 sees other"]);
    for (const end of ends) end();
    await new one.RateLimiter({ maxRowsPerSecond: 1, clock }).acquire();
    expect(seen).toHaveLength(4);
  });

  test("throw errors that either recognises; a class recognises only its own", async () => {
    const [one, other] = [await limiterCopy(), await limiterCopy()];
    const limiter = new one.RateLimiter({ maxRowsPerSecond: 1, clock: new ManualClock() });
    limiter.close();
    const error: unknown = await limiter.acquire().catch((refusal: unknown) => refusal);
    expect(error instanceof other.TidegateError).toBe(true);
    expect(other.isTidegateError(error, "LIMITER_CLOSED")).toBe(true);
    expect(other.isTidegateError(error, "QUEUE_FULL")).toBe(false);
    expect(error instanceof one.LimiterClosedError).toBe(true);
    expect(error instanceof other.LimiterClosedError).toBe(false);
  });
});
