import { describe, expect, test } from "@jest/globals";
import { LimiterClosedError, RateLimiter } from "../../../src/rate-limit/index.js";
import { labels, setUp } from "./support/set-up.js";
import { Trace } from "./support/trace.js";

describe("close", () => {
  test("rejects all who wait, at once, with the reason as cause", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1, { name: "api" });
    const reason = new Error("shutting down");
    acquire("first");
    for (const label of labels("a", 3)) acquire(label);
    await clock.advance(500);
    limiter.close(reason);
    await clock.advance(10_000);
    expect(trace.events).toEqual(["first t0", "a1 failed t500", "a2 failed t500", "a3 failed t500"]);
    const error = trace.reasonOf("a2");
    expect(error).toBeInstanceOf(LimiterClosedError);
    expect(error).toMatchObject({
      name: "LimiterClosedError",
      code: "LIMITER_CLOSED",
      limiter: "api",
      cause: reason,
    });
    expect((error as Error).message).toBe(
      'Limiter "api" is closed and grants nothing any more. Make a new one, or finish the calls before it is closed.',
    );
    expect(limiter.stats()).toMatchObject({ queued: 0, queuedTokens: 0, aborted: 3, granted: 1 });
    expect(clock.pending).toBe(0);
  });

  test("rejects whoever comes later, tokens or not", async () => {
    const { limiter } = setUp(5, 5);
    limiter.close("done");
    await expect(limiter.acquire()).rejects.toMatchObject({ code: "LIMITER_CLOSED", cause: "done" });
    await expect(limiter.acquire(0)).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    expect(limiter.stats()).toMatchObject({ available: 5, aborted: 0 });
  });

  test("twice is once: the first reason stays", async () => {
    const { limiter } = setUp(5, 5);
    limiter.close("first");
    limiter.close("second");
    await expect(limiter.acquire()).rejects.toMatchObject({ cause: "first" });
  });

  test("without a reason there is no cause", async () => {
    const { limiter } = setUp(5, 5);
    limiter.close();
    const error: unknown = await limiter.acquire().catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(LimiterClosedError);
    expect(Object.hasOwn(error as Error, "cause")).toBe(false);
  });

  test("nobody is granted after it by a refund, a resume or a new rate", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    limiter.pause(1_000);
    acquire("a");
    limiter.close();
    limiter.resume();
    limiter.refund(1);
    limiter.charge(1);
    limiter.pause(5);
    limiter.setRate({ maxRowsPerSecond: 100 });
    await clock.advance(5_000);
    expect(trace.events).toEqual(["a failed t0"]);
  });

  test("leaves the signals alone: no listener stays", async () => {
    const { limiter } = setUp(1, 1);
    await limiter.acquire();
    const controller = new AbortController();
    const call = limiter.acquire(1, { signal: controller.signal });
    limiter.close();
    controller.abort("too late");
    await expect(call).rejects.toBeInstanceOf(LimiterClosedError);
  });

  test("is what `using` does", async () => {
    let kept: RateLimiter;
    {
      using limiter = new RateLimiter({ maxRowsPerSecond: 1 });
      kept = limiter;
      await limiter.acquire();
    }
    await expect(kept.acquire()).rejects.toBeInstanceOf(LimiterClosedError);
  });

  test("a caller that comes while the line is rejected is rejected too", async () => {
    const { limiter, clock } = setUp(1, 1);
    const trace = new Trace(clock);
    await limiter.acquire();
    trace.follow(
      "again",
      limiter.acquire().catch(() => limiter.acquire()),
    );
    limiter.close();
    await clock.advance(5_000);
    expect(trace.events).toEqual(["again failed t0"]);
  });
});

describe("onIdle", () => {
  test("is there at once when nobody waits", async () => {
    const { limiter } = setUp(1, 1);
    await limiter.onIdle();
    await limiter.acquire();
    await limiter.onIdle();
  });

  test("comes when the last waiter is granted, and not before", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    for (const label of labels("a", 3)) acquire(label);
    trace.follow("idle", limiter.onIdle());
    trace.follow("idle too", limiter.onIdle());
    await clock.advance(1_000);
    acquire("b");
    await clock.advance(5_000);
    expect(trace.events).toEqual([
      "a1 t0",
      "a2 t1000",
      "a3 t2000",
      "b t3000",
      "idle t3000",
      "idle too t3000",
    ]);
  });

  test.each<[string, (limiter: RateLimiter, leave: AbortController) => void]>([
    [
      "aborted",
      (_limiter, leave) => {
        leave.abort();
      },
    ],
    [
      "rejected by close()",
      (limiter) => {
        limiter.close();
      },
    ],
  ])("comes when the last waiter is %s", async (_how, end) => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    const leave = new AbortController();
    await limiter.acquire();
    acquire("a", 1, { signal: leave.signal });
    trace.follow("idle", limiter.onIdle());
    await clock.advance(10);
    end(limiter, leave);
    await clock.advance(0);
    expect([...trace.events].sort()).toEqual(["a failed t10", "idle t10"]);
    await limiter.onIdle();
  });

  test("works again for the next line", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    await limiter.acquire();
    acquire("a");
    const first = limiter.onIdle();
    await clock.advance(1_000);
    await first;
    acquire("b");
    trace.follow("idle", limiter.onIdle());
    await clock.advance(999);
    expect(trace.events).toEqual(["a t1000"]);
    await clock.advance(1);
    expect(trace.events).toEqual(["a t1000", "b t2000", "idle t2000"]);
  });
});
