import { expect, test } from "@jest/globals";
import { ContextKey, useContext } from "../../../src/context/index.js";
import { beginRun, Environment, EnvironmentStateError } from "../../../src/lifespan/index.js";
import { errorOf, gate, opening, outcome } from "../../support/lifespan-helpers.js";

// What waits for itself must be an error and not a hang; each case would hang without the check.

const K = new ContextKey<number>("k");

test("stop() from inside a run of the environment rejects, also in a run nested in it and after an await", async () => {
  const environment = await new Environment({ name: "crawl" }).start();
  const other = await new Environment({ name: "other" }).start();
  await environment.run(async () => {
    const error = await errorOf(() => environment.stop());
    expect(error).toBeInstanceOf(EnvironmentStateError);
    expect(error).toMatchObject({ environment: "crawl", state: "running" });
    expect(error.message).toMatch(/wait for itself/);
    await environment.run(async () => {
      await Promise.resolve();
      await expect(environment.stop()).rejects.toBeInstanceOf(EnvironmentStateError);
    });
    await other.run(async () => {
      await expect(environment.stop()).rejects.toBeInstanceOf(EnvironmentStateError);
    });
    await other.stop(); // of another environment: fine
  });
  expect(environment.state).toBe("running");
  await environment.stop();
});

test("while draining, stop() and start() from inside a run reject", async () => {
  const environment = await new Environment().start();
  const run = beginRun(environment);
  const stop = environment.stop();
  await expect(run.enter(() => environment.stop())).rejects.toBeInstanceOf(EnvironmentStateError);
  await expect(run.enter(() => environment.start())).rejects.toBeInstanceOf(EnvironmentStateError);
  run.end();
  await stop;
});

test("start() and stop() inside the own lifespan reject, before and after the yield, in closers and disposers", async () => {
  const errors: Record<string, unknown> = {};
  const attempt = async (where: string): Promise<void> => {
    errors[`${where}, start`] = await errorOf(() => environment.start());
    errors[`${where}, stop`] = await errorOf(() => environment.stop());
    errors[`${where}, run`] = await errorOf(() => environment.run(() => 1));
  };
  const environment = new Environment({
    lifespan: async function* (builder) {
      await attempt("before");
      builder.defer(() => attempt("deferred"));
      builder.provide(K, 7, () => attempt("disposer"));
      yield;
      await attempt("after");
    },
  });
  await environment.start();
  await environment.stop();
  expect(Object.keys(errors)).toHaveLength(12);
  for (const error of Object.values(errors)) expect(error).toBeInstanceOf(EnvironmentStateError);
});

test("the closers of a failed start and of a start that was stopped are inside too", async () => {
  const errors: unknown[] = [];
  const open = gate();
  let starts = 0;
  const environment: Environment = new Environment({
    lifespan: opening(async (builder) => {
      builder.defer(async () => void errors.push(await errorOf(() => environment.stop())));
      starts += 1;
      if (starts === 1) throw new Error("boom");
      await open.promise;
    }),
  });
  await expect(environment.start()).rejects.toThrow("boom");
  environment.start().catch(() => undefined);
  const stop = environment.stop();
  open.open();
  await stop;
  expect(errors).toHaveLength(2);
  for (const error of errors) expect(error).toBeInstanceOf(EnvironmentStateError);
});

test("a run of another environment inside the lifespan is inside too", async () => {
  const other = await new Environment().start();
  const environment: Environment = new Environment({
    lifespan: opening(async () => {
      await other.run(async () => {
        await expect(environment.stop()).rejects.toBeInstanceOf(EnvironmentStateError);
        await expect(environment.start()).rejects.toBeInstanceOf(EnvironmentStateError);
      });
    }),
  });
  await environment.start();
  await Promise.all([environment.stop(), other.stop()]);
});

test("a listener or timer that the lifespan left behind may stop the running environment", async () => {
  const fire = gate();
  let stopped!: Promise<void>;
  const environment: Environment = new Environment({
    lifespan: async function* () {
      stopped = (async () => {
        await fire.promise;
        await environment.stop();
      })();
      yield;
    },
  });
  await environment.start();
  fire.open();
  await stopped;
  expect(environment.state).toBe("stopped");
});

test("so may code left over from a run that has ended, also while others drain", async () => {
  const environment = await new Environment().start();
  const [fire, again] = [gate(), gate()];
  let stops!: Promise<unknown>;
  environment.run(() => {
    stops = Promise.all([
      fire.promise.then(() => environment.stop()),
      again.promise.then(() => environment.stop()),
    ]);
  });
  const run = beginRun(environment);
  fire.open();
  expect(await outcome(stops)).toBe("pending");
  expect(environment.state).toBe("stopping");
  again.open();
  run.end();
  await stops;
});

test("a child's run, lifespan and closers are inside the parent", async () => {
  const errors: unknown[] = [];
  const attempt = async (): Promise<void> => void errors.push(await errorOf(() => parent.stop()));
  const parent = new Environment({ name: "parent" });
  const child = new Environment({
    parent,
    lifespan: async function* (builder) {
      await attempt();
      builder.defer(attempt);
      yield;
      await attempt();
    },
  });
  await child.start();
  await child.run(attempt);
  await child.stop(); // the parent runs on, yet its stop would wait for the closers of the child
  expect(errors).toHaveLength(4);
  for (const error of errors) expect(error).toBeInstanceOf(EnvironmentStateError);
  await parent.stop();
});

test("children may be started and stopped from inside a run of their parent, also while the parent drains", async () => {
  const parent = new Environment({ lifespan: opening((builder) => void builder.provide(K, 7)) });
  await parent.start();
  const [tellMe, goOn] = [gate(), gate()];
  const result = parent.run(async () => {
    const child = await parent.child(() => undefined).start();
    tellMe.open();
    await goOn.promise;
    const late = await parent.child((builder) => void builder.provide(K, 8)).start();
    const values = [child, late].map((environment) => environment.run(() => useContext(K)));
    await child.stop();
    return values;
  });
  await tellMe.promise;
  const stop = parent.stop();
  goOn.open();
  expect(await result).toEqual([7, 8]);
  await stop;
});
