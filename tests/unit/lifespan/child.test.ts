import { expect, test } from "@jest/globals";
import { ContextKey, MissingContextError, tryUseContext, useContext } from "../../../src/context/index.js";
import {
  beginRun,
  DuplicateProvideError,
  Environment,
  EnvironmentStateError,
  LifespanError,
} from "../../../src/lifespan/index.js";
import type { EnvironmentBuilder } from "../../../src/lifespan/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, gate, opening, outcome, settle } from "../../support/lifespan-helpers.js";

const A = new ContextKey<string>("a");
const B = new ContextKey<string>("b");

function logged(
  name: string,
  log: string[],
): (builder: EnvironmentBuilder) => AsyncGenerator<void, void, void> {
  return async function* (builder) {
    log.push(`open ${name}`);
    builder.defer(() => void log.push(`close ${name}`));
    yield;
  };
}

test("a child finds the parent's values and overrides them", async () => {
  const parent = new Environment({
    name: "app",
    lifespan: opening((builder) => {
      builder.provide(A, "parent's a");
      builder.provide(B, "parent's b");
    }),
  });
  const child = parent.child((builder) => {
    expect(builder.get(A)).toBe("parent's a");
    builder.provide(A, "child's a");
  });
  await child.start();
  expect(child.name).toBe("app/child");
  expect(child.run(() => [useContext(A), useContext(B)])).toEqual(["child's a", "parent's b"]);
  expect([child.get(B), parent.get(A)]).toEqual(["parent's b", "parent's a"]);
  await parent.stop();
});

test("a key may have a namesake in the parent, for the names of one environment only are unique", async () => {
  const namesake = new ContextKey<string>("a");
  const parent = new Environment({ lifespan: opening((builder) => void builder.provide(A, "a")) });
  const child = parent.child((builder) => {
    builder.provide(namesake, "namesake");
    expect(() => builder.provide(namesake, "twice")).toThrow(DuplicateProvideError);
  });
  await child.start();
  expect([child.get(A), child.get(namesake)]).toEqual(["a", "namesake"]);
  const error = await errorOf(() => child.get(B));
  expect(error).toBeInstanceOf(MissingContextError);
  expect(error).toMatchObject({ provided: ["a", "a"] });
  await parent.stop();
});

test("starting a child starts the parent first, once for several children", async () => {
  const log: string[] = [];
  const parent = new Environment({ lifespan: logged("parent", log) });
  const [first, second] = ["first", "second"].map(
    (name) => new Environment({ parent, lifespan: logged(name, log) }),
  ) as [Environment, Environment];
  await Promise.all([first.start(), second.start()]);
  expect(log[0]).toBe("open parent");
  expect(log).toHaveLength(3);
  await parent.stop();
});

test("a parent stops its children first, the last started first", async () => {
  const log: string[] = [];
  const parent = new Environment({ lifespan: logged("parent", log) });
  const first = new Environment({ parent, lifespan: logged("first", log) });
  const second = new Environment({ parent, lifespan: logged("second", log) });
  await first.start();
  await second.start();
  log.length = 0;
  await parent.stop();
  expect(log).toEqual(["close second", "close first", "close parent"]);
  expect([first.state, second.state, parent.state]).toEqual(["stopped", "stopped", "stopped"]);
});

test("stopping a child leaves the parent as it is", async () => {
  const log: string[] = [];
  const parent = new Environment({ lifespan: logged("parent", log) });
  const child = new Environment({ parent, lifespan: logged("child", log) });
  await child.start();
  await child.stop();
  expect(log).toEqual(["open parent", "open child", "close child"]);
  expect(parent.state).toBe("running");
  await child.start();
  expect(parent.run(() => tryUseContext(A))).toBeUndefined();
  await parent.stop();
});

test("the code after the parent's yield runs when its children are closed", async () => {
  const log: string[] = [];
  const parent = new Environment({
    lifespan: async function* () {
      yield;
      log.push("after the parent's yield");
    },
  });
  const child = new Environment({ parent, lifespan: logged("child", log) });
  await child.start();
  await parent.stop();
  expect(log).toEqual(["open child", "close child", "after the parent's yield"]);
});

test("a run of a child is drained by the stop of the parent, before any child closes", async () => {
  const log: string[] = [];
  const clock = new ManualClock();
  const parent = new Environment({ clock, drainTimeoutMs: 100, lifespan: logged("parent", log) });
  const child = new Environment({ parent, lifespan: logged("child", log) });
  await child.start();
  const [ofParent, ofChild] = [beginRun(parent), beginRun(child)];
  const reason = new Error("SIGTERM");
  const stop = parent.stop(reason);
  expect([ofParent.stopRequest, ofChild.stopRequest]).toEqual([{ reason }, { reason }]);
  expect(() => beginRun(child)).toThrow(EnvironmentStateError); // the parent begins no more runs
  ofChild.enter(() => beginRun(child)).end();
  ofParent.enter(() => beginRun(child)).end();
  await clock.advance(100);
  expect([ofParent.scope.reason, ofChild.scope.reason]).toEqual([reason, reason]);
  ofChild.end();
  expect([await outcome(stop), child.state]).toEqual(["pending", "running"]);
  ofParent.end();
  await stop;
  expect(log).toEqual(["open parent", "open child", "close child", "close parent"]);
});

test("the stop of a child waits for its own runs only", async () => {
  const parent = new Environment();
  const child = new Environment({ parent });
  await child.start();
  const ofParent = beginRun(parent);
  const ofChild = beginRun(child);
  const stop = child.stop();
  expect(ofParent.stopRequest).toBeUndefined();
  expect(ofChild.stopRequest).toBeDefined();
  ofChild.end();
  await stop;
  ofParent.end();
  await parent.stop();
});

test("errors of children and parent are all found in the parent's stop, in one flat AggregateError", async () => {
  const failing = (...names: string[]): ((builder: EnvironmentBuilder) => AsyncGenerator<void, void, void>) =>
    opening((builder) => {
      for (const name of names) builder.defer(() => Promise.reject(new Error(name)));
    });
  const parent = new Environment({ lifespan: failing("parent") });
  const child = new Environment({ parent, lifespan: failing("child 1", "child 2") });
  await child.start();
  const error = (await errorOf(() => parent.stop())) as Error as AggregateError;
  expect(error.errors.map((each) => (each as Error).message)).toEqual(["child 2", "child 1", "parent"]);
});

test("when the parent does not start, the child rejects with the parent's error and may try again", async () => {
  let starts = 0;
  const boom = new Error("parent");
  const parent = new Environment({
    lifespan: opening(() => {
      starts += 1;
      if (starts === 1) throw boom;
    }),
  });
  const child = parent.child(() => undefined);
  await expect(child.start()).rejects.toBe(boom);
  expect(child.state).toBe("idle");
  await child.start();
  await parent.stop();
});

test("a child that fails to start leaves the parent running and is forgotten by it", async () => {
  const parent = new Environment();
  const child = parent.child(() => {
    throw new Error("child");
  });
  await expect(child.start()).rejects.toThrow("child");
  expect(parent.state).toBe("running");
  await parent.stop();
  expect(child.state).toBe("idle");
});

test("a parent that stops while a child starts gives the child's start up", async () => {
  const open = gate();
  const parent = await new Environment().start();
  const child = parent.child(() => open.promise);
  const start = child.start();
  start.catch(() => undefined);
  await settle();
  const stop = parent.stop();
  await expect(start).rejects.toBeInstanceOf(EnvironmentStateError);
  open.open();
  await stop;
  expect([child.state, parent.state]).toEqual(["stopped", "stopped"]);
});

test("a child's start waits for a stopping parent and starts it again", async () => {
  const closing = gate();
  const parent = new Environment({
    lifespan: async function* () {
      yield;
      await closing.promise;
    },
  });
  await parent.start();
  const stop = parent.stop();
  const child = parent.child(() => undefined);
  const start = child.start();
  expect(await outcome(start)).toBe("pending");
  closing.open();
  await Promise.all([stop, start]);
  expect([parent.state, child.state]).toEqual(["running", "running"]);
});

test("a child has its parent's clock unless given one; startTimeoutMs covers the wait for the parent", async () => {
  const [clock, other] = [new ManualClock(), new ManualClock()];
  const open = gate();
  const parent = new Environment({ clock, lifespan: opening(() => open.promise) });
  const child = new Environment({ parent, startTimeoutMs: 10 });
  const start = errorOf(() => child.start());
  await clock.advance(10);
  const error = await start;
  expect(error).toBeInstanceOf(LifespanError);
  expect(error.message).toMatch(/still waited for its parent/);
  expect([child.state, parent.state]).toEqual(["idle", "starting"]);
  open.open();
  await child.start();
  expect(beginRun(child).clock).toBe(clock);
  expect(beginRun(await new Environment({ parent, clock: other }).start()).clock).toBe(other);
});

test("child() has the time limits of its parent", async () => {
  const clock = new ManualClock();
  const parent = new Environment({ clock, startTimeoutMs: 10, drainTimeoutMs: 20, closeTimeoutMs: 30 });
  const slow = parent.child(() => gate().promise);
  const start = errorOf(() => slow.start());
  await clock.advance(10);
  expect((await start).message).toMatch(/startTimeoutMs \(10 ms\)/);
  const child = await parent
    .child((builder) => {
      builder.defer(() => gate().promise);
    })
    .start();
  const run = beginRun(child);
  const stop = errorOf(() => child.stop());
  await clock.advance(20);
  expect(run.scope.aborted).toBe(true);
  run.end();
  await clock.advance(30);
  expect((await stop).message).toMatch(/closeTimeoutMs \(30 ms\)/);
});

test("child() refuses a generator function and says what to use", async () => {
  const parent = new Environment();
  const child = parent.child(async function* overrides() {
    yield;
  } as never);
  const error = await errorOf(() => child.start());
  expect(error).toBeInstanceOf(LifespanError);
  expect(error.message).toMatch(/"overrides".*new Environment\(\{ parent, lifespan \}\)/s);
  expect(() => parent.child(7 as never)).toThrow(/"overrides" must be a function/);
  await parent.stop();
});

test("a lazy value of the parent is made in the parent's context, though a child asks first", async () => {
  const lazy = new ContextKey<string>("lazy");
  const parent = new Environment({
    lifespan: opening((builder) => {
      builder.provide(A, "parent's a");
      builder.provideLazy(lazy, () => `made with ${useContext(A)}`);
    }),
  });
  const child = await parent.child((builder) => void builder.provide(A, "child's a")).start();
  expect(child.get(lazy)).toBe("made with parent's a");
  expect(parent.get(lazy)).toBe("made with parent's a");
  await parent.stop();
});
