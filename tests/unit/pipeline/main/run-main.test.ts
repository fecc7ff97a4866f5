import { EventEmitter } from "node:events";
import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import { Environment } from "../../../../src/lifespan/index.js";
import { App, map, runMain, useSignal } from "../../../../src/pipeline/index.js";
import type { StopSignal } from "../../../../src/pipeline/main/host.js";
import { runMainOn } from "../../../../src/pipeline/main/run-main.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { type Gate, gate, settle, stateOf } from "../helpers.js";

class FakeProcess extends EventEmitter {
  exitCode: number | string | null | undefined = undefined;
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }

  get listening(): number[] {
    return [this.listenerCount("SIGINT"), this.listenerCount("SIGTERM")];
  }
}

let host: { process: FakeProcess; clock: ManualClock; print: (text: string) => void };
let printed: string[];
let closed: number;
let environment: Environment;

beforeEach(() => {
  printed = [];
  closed = 0;
  host = { process: new FakeProcess(), clock: new ManualClock(), print: (text) => printed.push(text) };
  environment = makeEnvironment();
});

function makeEnvironment(close = (): unknown => undefined): Environment {
  return new Environment({
    name: "test",
    clock: host.clock,
    drainTimeoutMs: Infinity,
    lifespan: async function* () {
      yield;
      await close();
      closed += 1;
    },
  });
}

function appOf<R>(main: () => R): App<[], R> {
  return new App({ name: "app", environment }, main);
}

/** Gives the first lines of what was printed. */
function heads(): string[] {
  return printed.map((text) => text.split("\n", 2).join(" "));
}

async function tell(signal: StopSignal): Promise<void> {
  host.process.emit(signal, signal);
  await settle();
}

describe("without signals", () => {
  test("listens while it runs, stops the environment, and the code is 0", async () => {
    const work = gate();
    const over = runMainOn(
      host,
      appOf(() => work.promise),
    );
    expect(host.process.listening).toEqual([1, 1]); // before anything is awaited
    await settle();
    work.open();
    await over;
    expect([environment.state, closed, host.process.exitCode]).toEqual(["stopped", 1, 0]);
    expect([host.process.listening, host.process.exits, printed]).toEqual([[0, 0], [], []]);
    expect(host.clock.pending).toBe(0);
  });

  test("a code that main has set stays, unless it fails", async () => {
    const setsCode = (): void => {
      host.process.exitCode = 3;
    };
    await runMainOn(host, appOf(setsCode));
    expect(host.process.exitCode).toBe(3);
    await runMainOn(
      host,
      appOf(() => Promise.reject(new Error("oh"))),
    );
    expect(host.process.exitCode).toBe(1);
    await runMainOn(
      host,
      appOf(() => undefined),
    ); // a later one does not hide it
    expect(host.process.exitCode).toBe(1);
  });

  test("failures of main and of the stop are printed, each as it happens, and the code is 1", async () => {
    const closing = gate();
    environment = makeEnvironment(() => closing.promise);
    const over = runMainOn(
      host,
      appOf(() => {
        throw new Error("oh", { cause: new Error("why") });
      }),
    );
    await settle();
    expect(heads()).toEqual(['App "app" failed. Error: oh']);
    expect(printed[0]).toMatch(/\ncaused by: Error: why\n/);
    closing.fail(new Error("stuck"));
    await over;
    expect(heads().slice(1)).toEqual(['App "app" did not close cleanly. Error: stuck']);
    expect([environment.state, host.process.exitCode]).toEqual(["stopped", 1]);
    expect([host.process.listening, host.process.exits]).toEqual([[0, 0], []]);
  });

  test("a start that fails is printed, and the code is 1", async () => {
    environment = new Environment({
      lifespan: () => {
        throw new Error("no database");
      },
    });
    const main = jest.fn();
    await runMainOn(host, appOf(main));
    expect(heads()).toEqual(['App "app" failed. Error: no database']);
    expect([main.mock.calls.length, host.process.exitCode]).toEqual([0, 1]);
    expect(host.process.listening).toEqual([0, 0]);
  });

  test("the options are those of app.run", async () => {
    await runMainOn(
      host,
      appOf(() => 1),
      { signal: AbortSignal.abort("not today") },
    );
    await runMainOn(
      host,
      appOf(() => 1),
      { signal: 5 as never },
    );
    expect(heads()).toEqual([
      'App "app" failed. not today',
      'App "app" failed. InvalidArgumentError [ARGUMENT_INVALID]: "signal" must be an AbortSignal; got 5.',
    ]);
    expect(host.process.exitCode).toBe(1);
  });

  test.each([undefined, null, {}, () => 1])("what is no App is a failure too: %p", async (app) => {
    await runMainOn(host, app as never);
    expect(printed).toHaveLength(1);
    expect(printed[0]).toMatch(/^InvalidArgumentError \[ARGUMENT_INVALID\]: "app" must be an App; got /m);
    expect([host.process.listening, host.process.exitCode]).toEqual([[0, 0], 1]);
  });

  test("without a process it runs, and prints a failure", async () => {
    const main = jest.fn(() => Promise.reject(new Error("oh")));
    await runMainOn({ ...host, process: undefined }, appOf(main));
    expect(heads()).toEqual(['App "app" failed. Error: oh']);
    expect([main.mock.calls.length, closed]).toEqual([1, 1]);
  });

  test("an environment that its own run would have to stop is not waited for", async () => {
    await environment.start();
    await environment.run(() =>
      runMainOn(
        host,
        appOf(() => 1),
      ),
    );
    expect(printed).toHaveLength(1);
    expect(printed[0]).toMatch(/did not close cleanly\.\nEnvironmentStateError .* wait for itself/);
    expect(host.process.exitCode).toBe(1);
    await environment.stop();
  });

  test("an App of another copy of the package", async () => {
    jest.resetModules();
    const second = await import("../../../../src/pipeline/index.js");
    expect(second.App).not.toBe(App);
    await runMainOn(host, new second.App({ name: "app", environment }, () => 1));
    expect([closed, printed, host.process.exitCode]).toEqual([1, [], 0]);
  });
});

describe("signals", () => {
  let items: Gate[];
  const item = (): Promise<void> => {
    const mine = gate();
    items.push(mine);
    return mine.promise;
  };
  beforeEach(() => {
    items = [];
  });
  const fanOut = (): Promise<unknown> => map(item, [1, 2, 3, 4], { concurrency: 2 });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "%s lets what is in flight finish, starts nothing more, and the code is %i",
    async (signal, code) => {
      const over = runMainOn(host, appOf(fanOut));
      await settle();
      await tell(signal);
      expect(printed).toEqual([`${signal}: finishing what is in flight; again to force`]);
      expect(environment.state).toBe("stopping");
      for (const each of items) each.open();
      await over;
      expect([items.length, closed, host.process.exitCode]).toEqual([2, 1, code]);
      expect(printed).toHaveLength(1); // that main was ended is no failure
      expect([host.process.listening, host.process.exits]).toEqual([[0, 0], []]);
    },
  );

  test("the code is that of the signal also when main ended well, and when it failed", async () => {
    const ends = gate();
    let over = runMainOn(
      host,
      appOf(() => ends.promise),
    );
    await settle();
    await tell("SIGTERM");
    ends.open();
    await over;
    expect(host.process.exitCode).toBe(143);

    const fails = gate();
    over = runMainOn(
      host,
      appOf(() => fails.promise),
    );
    await settle();
    await tell("SIGINT");
    fails.fail(new Error("oh"));
    await over;
    expect(host.process.exitCode).toBe(130);
    expect(heads().slice(2)).toEqual(['App "app" failed. Error: oh']);
  });

  test("a signal while everything is being closed counts too", async () => {
    const closing = gate();
    environment = makeEnvironment(() => closing.promise);
    const over = runMainOn(
      host,
      appOf(() => 1),
    );
    await settle();
    await tell("SIGTERM");
    closing.open();
    await over;
    expect([closed, host.process.exitCode]).toEqual([1, 143]);
  });

  test("a signal while it starts: main does not begin, what was opened is closed, nothing else is printed", async () => {
    let isClosed = false;
    environment = new Environment({
      lifespan: async function* (builder) {
        builder.defer(() => {
          isClosed = true;
        });
        await new Promise((resolve) => {
          builder.signal.addEventListener("abort", resolve);
        });
        yield;
      },
    });
    const main = jest.fn();
    const over = runMainOn(host, appOf(main));
    await settle();
    await tell("SIGINT");
    await over;
    expect([main.mock.calls.length, isClosed, host.process.exitCode]).toEqual([0, true, 130]);
    expect(printed).toHaveLength(1);
  });

  test("a failure that was caused by the signal is not printed", async () => {
    const over = runMainOn(
      host,
      appOf(async () => {
        try {
          await fanOut();
        } catch (cause) {
          throw new Error("The crawl is not complete.", { cause });
        }
      }),
    );
    await settle();
    await tell("SIGINT");
    for (const each of items) each.open();
    await over;
    expect([printed.length, host.process.exitCode]).toEqual([1, 130]);
  });

  test("a second one aborts all runs of the environment, and everything is closed", async () => {
    const reasons: unknown[] = [];
    const untilAborted = (): Promise<void> => {
      const signal = useSignal();
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          resolve();
        });
      });
    };
    await environment.start();
    const request = environment.run(untilAborted);
    const over = runMainOn(host, appOf(untilAborted));
    await settle();
    await tell("SIGINT");
    expect(reasons).toEqual([]);
    await tell("SIGTERM");
    await over;
    await request;
    expect(reasons).toHaveLength(2);
    expect(reasons[0]).toBe(reasons[1]);
    expect(reasons[0]).toMatchObject({ code: "RUN_ABORTED", message: expect.stringContaining("SIGINT") });
    expect(printed.slice(1)).toEqual(["SIGTERM: aborting what is in flight; again to exit at once"]);
    expect([closed, host.process.exitCode, host.process.exits]).toEqual([1, 130, []]); // the code of the first
    expect(host.clock.pending).toBe(0);
  });

  test("two seconds after the second it exits, whatever hangs", async () => {
    const over = runMainOn(host, appOf(fanOut));
    await settle();
    await host.clock.advance(60_000);
    await tell("SIGTERM");
    await host.clock.advance(60_000);
    await tell("SIGTERM");
    await host.clock.advance(1_999);
    expect(host.process.exits).toEqual([]);
    await host.clock.advance(1);
    expect(host.process.exits).toEqual([143]);
    expect(printed.at(-1)).toBe("SIGTERM: exiting, although not all has ended");
    expect(await stateOf(over)).toBe("pending");
  });

  test("a third one exits at once", async () => {
    void runMainOn(host, appOf(fanOut));
    await settle();
    await tell("SIGINT");
    await tell("SIGTERM");
    expect(host.process.exits).toEqual([]);
    await tell("SIGTERM");
    expect(host.process.exits).toEqual([130]);
  });

  test("a stop that fails after a signal is printed", async () => {
    environment = makeEnvironment(() => Promise.reject(new Error("stuck")));
    const over = runMainOn(host, appOf(fanOut));
    await settle();
    await tell("SIGINT");
    for (const each of items) each.open();
    await over;
    expect(heads().slice(1)).toEqual(['App "app" did not close cleanly. Error: stuck']);
    expect(host.process.exitCode).toBe(130);
  });

  test("a signal that is delivered in the frame of a run stops that run too", async () => {
    const over = runMainOn(host, appOf(fanOut));
    await settle();
    const request = gate();
    const answered = environment.run(async () => {
      await tell("SIGINT");
      await request.promise;
    });
    for (const each of items) each.open();
    await settle();
    expect([environment.state, items.length]).toEqual(["stopping", 2]);
    request.open();
    await answered;
    await over;
    expect([closed, printed.length, host.process.exitCode]).toEqual([1, 1, 130]);
  });

  test("of two at once, the one that ends first leaves the listeners of the other, and those of strangers", async () => {
    const stranger = jest.fn();
    host.process.on("SIGINT", stranger);
    const first = gate();
    const one = runMainOn(
      host,
      appOf(() => first.promise),
    );
    environment = makeEnvironment();
    const other = runMainOn(host, appOf(fanOut));
    await settle();
    first.open();
    await one;
    expect(host.process.listening).toEqual([2, 1]);
    await tell("SIGINT");
    for (const each of items) each.open();
    await other;
    expect([host.process.listening, stranger.mock.calls.length]).toEqual([[1, 0], 1]);
    expect([closed, host.process.exitCode]).toEqual([2, 130]);
  });
});

describe("runMain", () => {
  test("is on the real process and the real stderr", async () => {
    const error = jest.spyOn(console, "error").mockReturnValue();
    const { exitCode } = process;
    const before = process.listenerCount("SIGTERM");
    let during = 0;
    try {
      await runMain(
        appOf(() => {
          during = process.listenerCount("SIGTERM");
          throw new Error("oh");
        }),
      );
      expect(process.exitCode).toBe(1);
    } finally {
      process.exitCode = exitCode;
    }
    expect([during, process.listenerCount("SIGTERM")]).toEqual([before + 1, before]);
    expect(error.mock.calls).toEqual([[expect.stringMatching(/^App "app" failed\.\nError: oh\n {4}at /)]]);
    error.mockRestore();
  });

  test.each([
    ["no process", undefined],
    ["a process without signals", { env: {} }],
  ])("with %s it runs all the same", async (_where, replacement) => {
    const before = Object.getOwnPropertyDescriptor(globalThis, "process") as PropertyDescriptor;
    Object.defineProperty(globalThis, "process", { value: replacement, configurable: true, writable: true });
    try {
      await runMain(appOf(() => 1));
    } finally {
      Object.defineProperty(globalThis, "process", before);
    }
    expect(closed).toBe(1);
  });
});
