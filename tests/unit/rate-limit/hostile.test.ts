import { expect, test } from "@jest/globals";
import { isTidegateError, observeLimiters, TidegateError } from "../../../src/rate-limit/index.js";
import { setUp } from "./support/set-up.js";

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test("a signal whose addEventListener throws leaves the line as it was", async () => {
  const { clock, limiter } = setUp(1, 1);
  await limiter.acquire();
  const signal = {
    aborted: false,
    addEventListener: () => {
      throw new Error("no listeners here");
    },
    removeEventListener: () => undefined,
  } as unknown as AbortSignal;
  await expect(limiter.acquire(1, { signal })).rejects.toThrow("no listeners here");
  expect(limiter.stats()).toMatchObject({ queued: 0, queuedTokens: 0 });
  const next = limiter.acquire();
  await clock.advance(1_000);
  await next;
  expect(clock.pending).toBe(0);
});

test.each([
  ["an EventTarget", () => new EventTarget()],
  ["an AbortController", () => new AbortController()],
])("%s is no signal", async (_name, make) => {
  const { limiter } = setUp(1, 1);
  await expect(limiter.acquire(1, { signal: make() as AbortSignal })).rejects.toMatchObject({
    code: "ARGUMENT_INVALID",
    option: "signal",
  });
  expect(limiter.stats().available).toBe(1);
});

test("options that throw when they are read make acquire reject, not throw", async () => {
  const { limiter } = setUp(1, 1);
  const options = {
    get maxWaitMs(): number {
      throw new Error("do not read me");
    },
  };
  await expect(limiter.acquire(1, options)).rejects.toThrow("do not read me");
  await expect(limiter.acquire(1, revoked())).rejects.toThrow(TypeError);
  expect(limiter.stats().available).toBe(1);
});

test("what waiters ask for is counted right after sums that no double holds", async () => {
  const { limiter } = setUp(1, 1);
  await limiter.acquire();
  const leave = new AbortController();
  for (const n of [Number.MAX_SAFE_INTEGER, 1, 1, 1]) void limiter.acquire(n, { signal: leave.signal });
  leave.abort();
  expect(limiter.stats()).toMatchObject({ queued: 0, queuedTokens: 0 });
  expect(limiter.estimateWaitMs(2)).toBe(2_000);
});

test("an observer must be an object", () => {
  expect(() => observeLimiters(null as never)).toThrow('"observer" must be an object');
});

test("a revoked proxy is no error of tidegate", () => {
  expect(isTidegateError(revoked())).toBe(false);
  expect(revoked() instanceof TidegateError).toBe(false);
});
