import { describe, expect, jest, test } from "@jest/globals";
import { type Deadline, Scope } from "../../../src/cancellation/index.js";
import { systemClock } from "../../../src/clock.js";
import { ManualClock } from "../../../src/testing/index.js";

describe("release", () => {
  test("tells the listeners once, in order, with the reason", () => {
    const scope = new Scope();
    const told: string[] = [];
    for (const name of ["a", "b"]) {
      scope.add({ scopeEnded: (reason) => told.push(`${name} ${String(reason)}`) });
    }
    expect([scope.ended, scope.reason]).toEqual([false, undefined]);
    scope.release("first");
    scope.release("second");
    expect(told).toEqual(["a first", "b first"]);
    expect([scope.ended, scope.reason]).toEqual([true, "first"]);
  });

  test("says it has ended before it tells anyone", () => {
    const scope = new Scope();
    let seen: unknown;
    scope.add({
      scopeEnded: () => {
        seen = [scope.ended, scope.reason];
      },
    });
    scope.release("over");
    expect(seen).toEqual([true, "over"]);
  });

  test("does not tell who was removed", () => {
    const scope = new Scope();
    const listener = { scopeEnded: jest.fn() };
    scope.add(listener);
    scope.add(listener);
    scope.remove(listener);
    scope.release("over");
    expect(listener.scopeEnded).not.toHaveBeenCalled();
  });

  test("does not abort", () => {
    const scope = new Scope();
    const { signal } = scope;
    scope.release("over");
    expect([scope.aborted, signal.aborted, scope.signal.aborted]).toEqual([false, false, false]);
  });

  test("undefined is a reason too", () => {
    const scope = new Scope();
    scope.release(undefined);
    scope.release("second");
    expect([scope.ended, scope.reason]).toEqual([true, undefined]);
  });
});

describe("abort", () => {
  test("releases, and aborts the signal, with the reason", () => {
    const scope = new Scope();
    const told: unknown[] = [];
    scope.add({ scopeEnded: (reason) => told.push(["ended", reason]) });
    scope.signal.addEventListener("abort", () => told.push(["aborted", scope.signal.reason]));
    scope.abort("over");
    scope.abort("again");
    expect(told).toEqual([
      ["ended", "over"],
      ["aborted", "over"],
    ]);
    expect(scope).toMatchObject({ ended: true, reason: "over", aborted: true, abortReason: "over" });
  });

  test("after a release keeps that reason for who waits, and has its own for the signal", () => {
    const scope = new Scope();
    const listener = { scopeEnded: jest.fn() };
    scope.add(listener);
    scope.release("failed");
    scope.abort("stopped");
    expect(listener.scopeEnded.mock.calls).toEqual([["failed", scope]]);
    expect(scope).toMatchObject({ reason: "failed", abortReason: "stopped" });
    expect(scope.signal.reason).toBe("stopped");
  });
});

describe("signal", () => {
  test("is one, made when it is looked at", () => {
    const scope = new Scope();
    const Original = globalThis.AbortController;
    let made = 0;
    globalThis.AbortController = class extends Original {
      constructor() {
        super();
        made += 1;
      }
    };
    try {
      new Scope(scope).abort("over");
      expect(made).toBe(0);
      const { signal } = scope;
      expect(scope.signal).toBe(signal);
      expect(made).toBe(1);
    } finally {
      globalThis.AbortController = Original;
    }
  });

  test("is aborted at once in a scope that was aborted before anyone looked", () => {
    const scope = new Scope();
    scope.abort("over");
    expect([scope.signal.aborted, scope.signal.reason]).toEqual([true, "over"]);
  });
});

describe("a scope inside another", () => {
  test("is released with it", () => {
    const outer = new Scope();
    const inner = new Scope(new Scope(outer));
    outer.release("over");
    expect(inner).toMatchObject({ ended: true, reason: "over", aborted: false });
  });

  test("is aborted with it", () => {
    const outer = new Scope();
    const inner = new Scope(new Scope(outer));
    const { signal } = inner;
    outer.abort("over");
    expect(inner).toMatchObject({ ended: true, aborted: true, abortReason: "over" });
    expect(signal.reason).toBe("over");
  });

  test("that was released is still aborted with it", () => {
    const outer = new Scope();
    const inner = new Scope(outer);
    inner.release("failed");
    outer.abort("stopped");
    expect(inner).toMatchObject({ reason: "failed", aborted: true, abortReason: "stopped" });
  });

  test("ends alone, and leaves the outer one as it is", () => {
    const outer = new Scope();
    const [inner, beside] = [new Scope(outer), new Scope(outer)];
    inner.abort("over");
    expect([outer.ended, beside.ended, outer.signal.aborted]).toEqual([false, false, false]);
  });

  test.each(["release", "abort"] as const)("made after the outer one's %s has that end", (way) => {
    const outer = new Scope();
    outer[way]("over");
    const inner = new Scope(outer);
    expect(inner).toMatchObject({ ended: true, reason: "over", aborted: way === "abort" });
    expect(inner.signal.aborted).toBe(way === "abort");
  });

  test("made after a release and an abort has both reasons", () => {
    const outer = new Scope();
    outer.release("failed");
    outer.abort("stopped");
    expect(new Scope(outer)).toMatchObject({ ended: true, aborted: true, abortReason: "stopped" });
  });

  test("that has left is not told, and not kept", () => {
    const outer = new Scope();
    const inner = new Scope(outer);
    expect(outer.inner.size).toBe(1);
    inner.leave();
    inner.leave();
    expect(outer.inner.size).toBe(0);
    outer.abort("over");
    expect(inner.ended).toBe(false);
    new Scope().leave();
  });

  test("may leave while the outer one ends", () => {
    const outer = new Scope();
    const scopes = [new Scope(outer), new Scope(outer), new Scope(outer)];
    for (const scope of scopes) {
      scope.add({
        scopeEnded: () => {
          scope.leave();
        },
      });
    }
    outer.release("over");
    expect(scopes.map(({ ended }) => ended)).toEqual([true, true, true]);
    expect(outer.inner.size).toBe(0);
  });
});

describe("deadline", () => {
  const clock = new ManualClock();
  const at = (ms: number, on: Deadline["clock"] = clock): Deadline => ({ clock: on, at: ms });

  test("is undefined unless given, here or around", () => {
    expect(new Scope().deadline).toBeUndefined();
    expect(new Scope(new Scope()).deadline).toBeUndefined();
    expect(new Scope(undefined, at(5)).deadline).toEqual(at(5));
    expect(new Scope(new Scope(new Scope(undefined, at(5)))).deadline).toEqual(at(5));
  });

  test("is the earlier of two on one clock", () => {
    expect(new Scope(new Scope(undefined, at(5)), at(9)).deadline?.at).toBe(5);
    expect(new Scope(new Scope(undefined, at(9)), at(5)).deadline?.at).toBe(5);
    const system = [at(5, systemClock), at(9, systemClock)] as const;
    expect(new Scope(new Scope(undefined, system[0]), system[1]).deadline?.at).toBe(5);
  });

  test("is its own when the outer one stands on another clock", () => {
    const own = at(9);
    expect(new Scope(new Scope(undefined, at(5, new ManualClock())), own).deadline).toBe(own);
  });
});

test("scopes may be nested deeper than calls", () => {
  const outermost = new Scope();
  let innermost = outermost;
  for (let depth = 0; depth < 20_000; depth += 1) innermost = new Scope(innermost);
  const { signal } = innermost;
  outermost.abort("over");
  expect([innermost.ended, innermost.reason, signal.aborted]).toEqual([true, "over", true]);
});

test("all scopes are marked as ended before anybody is told", () => {
  const outer = new Scope();
  const inner = new Scope(outer);
  const seen: boolean[] = [];
  outer.add({ scopeEnded: () => seen.push(inner.ended, inner.aborted) });
  outer.abort("over");
  expect(seen).toEqual([true, true]);
});
