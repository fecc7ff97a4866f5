import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { ambientScope } from "../../../../src/cancellation/index.js";
import type { Clock } from "../../../../src/clock.js";
import { ContextKey, tryUseContext, useContext, withContext } from "../../../../src/context/index.js";
import { Environment } from "../../../../src/lifespan/index.js";
import {
  App,
  checkCancellation,
  DeadlineExceededError,
  map,
  useSignal,
  withTimeout,
} from "../../../../src/pipeline/index.js";
import { RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { Counter, errorOf, gate, type Gate, settle, stateOf, thrownBy } from "../helpers.js";

const KEY = new ContextKey<string>("time-limit/key");

let clock: ManualClock;
let environment: Environment;
let end: Gate;
beforeEach(async () => {
  end = gate();
  clock = new ManualClock();
  environment = await new Environment({ name: "test", clock }).start();
});
afterEach(async () => {
  expect(clock.pending).toBe(0);
  end.open(); // an environment waits for deaf bodies
  await environment.stop();
});

const deaf = (): Promise<void> => end.promise;
const runIt = <R>(main: () => Promise<R>): Promise<R> => environment.run(main);

describe("withTimeout", () => {
  test("hands a result through, and cancels its timer", async () => {
    expect(environment.run(() => withTimeout(100, () => "sync"))).toBe("sync");
    expect(clock.pending).toBe(0);
    const hold = gate<string>();
    const limited = runIt(() => withTimeout(100, () => hold.promise));
    expect(clock.pending).toBe(1);
    hold.open("async");
    expect(await limited).toBe("async");
    expect(clock.pending).toBe(0);
  });

  test("what the body throws or rejects with comes out as it is", async () => {
    const boom = new Error("boom");
    const thrower = (): never => {
      throw boom;
    };
    expect(() => environment.run(() => withTimeout(100, thrower))).toThrow(boom);
    expect(await errorOf(runIt(() => withTimeout(100, () => Promise.reject(boom))))).toBe(boom);
  });

  test("rejects at the end of the time, not before", async () => {
    const limited = errorOf(runIt(() => withTimeout(100, () => useEnd())));
    await clock.advance(99.9);
    expect(await stateOf(limited)).toBe("pending");
    await clock.advance(0.1);
    const error = await limited;
    expect(error).toBeInstanceOf(DeadlineExceededError);
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", timeoutMs: 100 });
  });

  /** A body that ends when its signal aborts. */
  function useEnd(): Promise<never> {
    const signal = useSignal();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        reject(signal.reason);
      });
    });
  }

  test("aborts the signal, the acquires and the fan-outs within", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock: new ManualClock() });
    const source = new Counter();
    const errors: unknown[] = [];
    const limited = errorOf(
      runIt(() =>
        withTimeout(100, async () => {
          const all = [limiter.acquire(), map(() => limiter.acquire(), source, { concurrency: 2 }), useEnd()];
          for (const result of await Promise.allSettled(all)) {
            errors.push((result as PromiseRejectedResult).reason);
          }
          checkCancellation();
        }),
      ),
    );
    await settle();
    expect(limiter.stats().queued).toBe(3);
    await clock.advance(100);
    const error = await limited;
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    await settle();
    expect(errors).toEqual([error, error, error]);
    expect(limiter.stats().queued).toBe(0);
    expect([source.pulled, source.closed]).toEqual([2, 1]);
  });

  test("an acquire whose wait cannot fit fails at once", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock });
    const error = await errorOf(runIt(() => withTimeout(500, () => limiter.acquire())));
    expect(error).toMatchObject({ code: "WAIT_TOO_LONG", estimatedWaitMs: 1_000 });
  });

  test.each([
    [50, 100, "the one around"],
    [100, 50, "the inner one"],
  ])("of nested limits the earlier counts: %p around %p", async (outer, inner) => {
    const errors: unknown[] = [];
    const limited = errorOf(
      runIt(() =>
        withTimeout(outer, async () => {
          errors.push(await errorOf(withTimeout(inner, deaf)), clock.now());
          return "went on";
        }),
      ).then(() => Promise.reject("in time")),
    );
    await clock.advance(50);
    await settle();
    expect(errors).toMatchObject([{ code: "DEADLINE_EXCEEDED", timeoutMs: 50 }, 50]);
    expect(await limited).toEqual(outer === 50 ? errors[0] : "in time");
  });

  test("a body that goes on belongs to its run: stop() called by it would wait for itself", async () => {
    const late = gate();
    let answer: unknown;
    const limited = environment.run(() =>
      errorOf(
        withTimeout(100, async () => {
          await late.promise;
          answer = await errorOf(environment.stop());
        }),
      ),
    );
    await clock.advance(100);
    expect(await limited).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    late.open();
    await settle();
    expect(answer).toMatchObject({ code: "ENVIRONMENT_STATE" });
    expect(environment.state).toBe("running");
  });

  test("rejects for a deaf body too, and the run and its environment wait for that", async () => {
    const hold = gate();
    let closed = false;
    const environment = await new Environment({
      name: "waits",
      clock,
      drainTimeoutMs: Infinity,
      lifespan: function* (builder) {
        builder.defer(() => {
          closed = true;
        });
        yield;
      },
    }).start();
    const log: unknown[] = [];
    const main = async (): Promise<void> => {
      log.push(await errorOf(withTimeout(100, () => hold.promise)));
    };
    const handle = new App({ name: "app", environment }, main).run();
    const plain = environment.run(main);
    await clock.advance(100);
    expect(log).toMatchObject([{ code: "DEADLINE_EXCEEDED" }, { code: "DEADLINE_EXCEEDED" }]);
    await plain;
    expect(await stateOf(handle)).toBe("pending");
    const stopped = environment.stop();
    await settle();
    expect(closed).toBe(false);
    hold.open();
    await handle;
    await stopped;
    expect(closed).toBe(true);
  });

  test("the same while the environment drains", async () => {
    const hold = gate();
    let closed = false;
    const environment = await new Environment({
      name: "drains",
      clock,
      drainTimeoutMs: Infinity,
      lifespan: function* () {
        yield;
        closed = true;
      },
    }).start();
    const run = environment.run(() => errorOf(withTimeout(100, () => hold.promise)));
    const stopped = environment.stop();
    await clock.advance(100);
    expect(await run).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    await settle();
    expect(closed).toBe(false);
    hold.open();
    await stopped;
    expect(closed).toBe(true);
  });

  test("a body that fails after its limit harms nobody", async () => {
    const hold = gate();
    const limited = errorOf(runIt(() => withTimeout(100, () => hold.promise)));
    await clock.advance(100);
    hold.fail(new Error("late"));
    expect(await limited).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

  test("a timer that fires early is armed again, and no delay is longer than timers take", async () => {
    let now = 0;
    const timers: { delay: number; fire: () => void }[] = [];
    const early: Clock = {
      now: () => now,
      schedule: (delay, fire) => {
        timers.push({ delay, fire });
        return () => undefined;
      },
    };
    const environment = await new Environment({ name: "early", clock: early }).start();
    const limited = environment.run(() => withTimeout(2 ** 32, deaf));
    const over = errorOf(limited);
    expect(timers.map(({ delay }) => delay)).toEqual([2 ** 31 - 1]);
    now = 2 ** 32 - 7;
    timers[0]?.fire();
    expect(timers.map(({ delay }) => delay)).toEqual([2 ** 31 - 1, 7]);
    expect(await stateOf(limited)).toBe("pending");
    now = 2 ** 32;
    timers[1]?.fire();
    expect(await over).toMatchObject({ timeoutMs: 2 ** 32 });
  });

  test.each([-1, Number.NaN, Infinity, "5", undefined])("%p is no time limit", (ms) => {
    const body = jest.fn();
    expect(thrownBy(() => withTimeout(ms as number, body))).toMatchObject({
      code: "ARGUMENT_INVALID",
      option: "ms",
    });
    expect(body).not.toHaveBeenCalled();
  });

  test("0 is one: the body begins, and what it waits for is over", async () => {
    const limited = errorOf(runIt(() => withTimeout(0, deaf)));
    await clock.advance(0);
    expect(await limited).toMatchObject({ timeoutMs: 0 });
  });

  test("works outside every environment, on the clock of the system, and keeps the context", async () => {
    const seen: unknown[] = [];
    const error = await errorOf(
      withContext(KEY, "caller", () =>
        withTimeout(1, () => {
          seen.push(useContext(KEY));
          useSignal().addEventListener("abort", () => seen.push(useContext(KEY)));
          return deaf();
        }),
      ),
    );
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(seen).toEqual(["caller", "caller"]);
  });

  test("a lazy thenable is settled within the limit, and listeners of its signal run in its context", async () => {
    const seen: unknown[] = [];
    const lazy = {
      then: (_resolve: unknown, reject: (reason: unknown) => void): void => {
        seen.push(useContext(KEY));
        const signal = useSignal();
        signal.addEventListener("abort", () => {
          seen.push(useContext(KEY));
          reject("the end");
        });
      },
    };
    const limited = environment.run(() => withContext(KEY, "caller", () => withTimeout(5, () => lazy)));
    const over = errorOf(limited as unknown as Promise<void>);
    await clock.advance(5); // by code in no context
    expect(await over).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(seen).toEqual(["caller", "caller"]);
  });

  test("does not bound the steps of a generator, which go on in the context of the call", () => {
    const { steps } = withContext(KEY, "caller", () => ({
      steps: withTimeout(5, function* () {
        yield [tryUseContext(KEY), ambientScope()];
      }),
    }));
    expect([...steps]).toEqual([["caller", undefined]]);
  });

  test("hands the handle of a run through, and aborts that run", async () => {
    const app = new App({ name: "inner", environment }, () => useEnd());
    const handle = environment.run(() => withTimeout(100, () => app.run()));
    expect("abort" in handle).toBe(true);
    const over = errorOf(handle);
    await clock.advance(100);
    expect(await over).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });
});

describe("useSignal and checkCancellation", () => {
  test("outside: one signal that never aborts, and nothing to check", () => {
    expect(useSignal()).toBe(useSignal());
    expect(useSignal().aborted).toBe(false);
    checkCancellation();
  });

  test("in a run: aborted with the run, with its reason", async () => {
    const begin = gate();
    const reason = new Error("stop");
    const seen: unknown[] = [];
    const handle = new App({ name: "app", environment }, async () => {
      const signal = useSignal();
      expect(useSignal()).toBe(signal);
      seen.push(signal.aborted);
      checkCancellation();
      await begin.promise;
      seen.push(signal.aborted, signal.reason, useSignal().aborted);
      checkCancellation();
    }).run();
    const over = errorOf(handle);
    handle.abort(reason);
    begin.open();
    await over;
    expect(seen).toEqual([false, true, reason, true]);
  });
});
