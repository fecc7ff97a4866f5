import { expect, test } from "@jest/globals";
import {
  bindContext,
  currentFrame,
  type ExceptionHandler,
  withExceptionHandler,
} from "../../../src/context/index.js";
import {
  composeLifespans,
  Environment,
  type EnvironmentBuilder,
  type Lifespan,
} from "../../../src/lifespan/index.js";

const first: ExceptionHandler = () => undefined;
const second: ExceptionHandler = () => undefined;
const handlersNow = (): unknown => currentFrame()?.handlers;

function setting(...handlers: ExceptionHandler[]): Lifespan {
  return function* (builder) {
    for (const handler of handlers) builder.setExceptionHandler(handler);
    yield;
  };
}

test("a run has the handler of its environment, then those of its parents, then those around", async () => {
  const parent = new Environment({ name: "parent", lifespan: setting(first) });
  const child = new Environment({ name: "child", parent, lifespan: setting(second) });
  await child.start();
  const around: ExceptionHandler = () => undefined;
  expect(withExceptionHandler(around, () => child.run(handlersNow))).toEqual([second, first, around]);
  expect(parent.run(handlersNow)).toEqual([first]);
  await parent.stop();
});

test("runs that begin in one another do not make the list longer", async () => {
  const environment = await new Environment({ name: "test", lifespan: setting(first) }).start();
  let job = (): unknown => environment.run(handlersNow);
  for (let turn = 0; turn < 100; turn += 1) {
    const next = job;
    job = environment.run(() => bindContext(() => environment.run(next)));
  }
  expect(job()).toEqual([first]);
  await environment.stop();
});

test("each start has its own; the lifespan itself has none", async () => {
  let next = first;
  const seen: unknown[] = [];
  const environment = new Environment({
    name: "test",
    lifespan: function* (builder) {
      builder.setExceptionHandler(next);
      seen.push(handlersNow());
      yield;
    },
  });
  await environment.start();
  seen.push(environment.run(handlersNow));
  await environment.stop();
  next = second;
  await environment.start();
  seen.push(environment.run(handlersNow));
  await environment.stop();
  expect(seen).toEqual([undefined, [first], undefined, [second]]);
});

test("a second one is an error of the lifespan, also in composed ones, and the start closes again", async () => {
  for (const lifespan of [setting(first, second), composeLifespans(setting(first), setting(second))]) {
    const environment = new Environment({ name: "test", lifespan });
    await expect(environment.start()).rejects.toMatchObject({
      code: "LIFESPAN_INVALID",
      environment: "test",
      lifespan: lifespan.name,
    });
    await expect(environment.start()).rejects.toThrow(/sets a second exception handler/);
    expect(environment.state).toBe("idle");
  }
});

test("refuses what is no function, and comes too late after the yield", async () => {
  let builder!: EnvironmentBuilder;
  const environment = new Environment({
    name: "test",
    lifespan: function* (given) {
      builder = given;
      expect(() => {
        given.setExceptionHandler(5 as never);
      }).toThrow('"handler" must be a function; got 5.');
      yield;
    },
  });
  await environment.start();
  expect(() => {
    builder.setExceptionHandler(first);
  }).toThrow('Environment "test" is running. setExceptionHandler() came after the start. Call it before');
  await environment.stop();
});
