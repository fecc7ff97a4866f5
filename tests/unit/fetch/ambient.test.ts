import { expect, test } from "@jest/globals";
import { ContextKey, withContext } from "../../../src/context/index.js";
import { limitFetch } from "../../../src/fetch/index.js";
import { Environment } from "../../../src/lifespan/index.js";
import { withTimeout } from "../../../src/pipeline/index.js";
import { RateLimiter, WaitTooLongError } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { inRun, ok, reasonOf, refusal, serverOf, setUp, URL_OF_IT } from "./support/set-up.js";

// A limited fetch in the context, the run and the time limit of whoever calls it.

test("a key is looked up for each call, where it is made", async () => {
  const LIMITER = new ContextKey<RateLimiter>("limiter");
  const clock = new ManualClock();
  const limiterOf = (name: string): RateLimiter => new RateLimiter({ maxRowsPerSecond: 1, clock, name });
  const [shared, tenant] = [limiterOf("shared"), limiterOf("tenant")];
  const { fetch, sent } = serverOf(() => refusal({ "retry-after": "5" }), clock);
  const limited = limitFetch(LIMITER, { fetch, retry: false });
  await using environment = await new Environment({
    clock,
    lifespan: async function* (builder) {
      builder.provide(LIMITER, shared);
      yield;
    },
  }).start();
  await environment.run(async () => {
    await limited(URL_OF_IT);
    expect([shared.stats().granted, tenant.stats().granted]).toEqual([1, 0]);
    await withContext(LIMITER, tenant, () => limited(URL_OF_IT));
    expect([shared.stats().granted, tenant.stats().granted]).toEqual([1, 1]);
    expect([shared.stats().pausedForMs, tenant.stats().pausedForMs]).toEqual([5_000, 5_000]);
  });
  expect(sent).toEqual(["t0", "t0"]);
});

test("a key that nothing is provided under is an error of the call", async () => {
  const { fetch, sent } = serverOf(() => ok(), new ManualClock());
  const limited = limitFetch(new ContextKey<RateLimiter>("limiter"), { fetch });
  expect(await reasonOf(limited(URL_OF_IT))).toMatchObject({ message: expect.stringContaining("limiter") });
  expect(sent).toEqual([]);
});

test.each([
  ["in line", {}],
  ["by itself", { feedback: { isShared: () => false } }],
])("a retry %s that cannot fit in the time limit fails at once", async (_, options) => {
  const { clock, sent, fetch } = setUp(() => refusal({ "retry-after": "30" }), options);
  await inRun(clock, async () => {
    const reason = await reasonOf(withTimeout(10_000, () => fetch(URL_OF_IT)));
    expect(reason).toBeInstanceOf(WaitTooLongError);
    expect(reason).toMatchObject({ estimatedWaitMs: 30_000 });
    expect([sent, clock.now()]).toEqual([["t0"], 0]);
  });
});

test("a retry that fits is made", async () => {
  const { clock, sent, fetch } = setUp((count) => (count === 1 ? refusal({ "retry-after": "3" }) : ok()));
  await inRun(clock, async () => {
    const answered = withTimeout(10_000, () => fetch(URL_OF_IT));
    await clock.advance(3_000);
    expect((await answered).status).toBe(200);
    expect(sent).toEqual(["t0", "t3000"]);
  });
});

test.each([
  ["in line", {}],
  ["by themselves", { feedback: { isShared: () => false } }],
])("the end of the run releases those who wait %s", async (_, options) => {
  const { clock, trace, sent, call } = setUp(() => refusal({ "retry-after": "30" }), options);
  const environment = await new Environment({ clock, drainTimeoutMs: 0 }).start();
  const run = environment.run(async () => {
    call("a");
    await new Promise((resolve) =>
      clock.schedule(5_000, () => {
        resolve(undefined);
      }),
    );
  });
  await clock.advance(1_000);
  const stopped = environment.stop(new Error("over"));
  await clock.advance(0);
  expect(trace.events).toEqual(["a failed t1000"]);
  expect(sent).toEqual(["a t0"]);
  await clock.advance(4_000);
  await Promise.allSettled([run, stopped]);
  expect(clock.pending).toBe(0);
});
