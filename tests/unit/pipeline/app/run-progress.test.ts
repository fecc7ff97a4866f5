import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ContextKey, tryUseContext, withContext } from "../../../../src/context/index.js";
import { Environment } from "../../../../src/lifespan/index.js";
import { App, fn, map, type ProgressReporter, terminalProgress } from "../../../../src/pipeline/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { errorOf, gate, settle } from "../helpers.js";

const WHO = new ContextKey<string>("who");
let clock: ManualClock;
let environment: Environment;
beforeEach(() => {
  clock = new ManualClock();
  environment = new Environment({ name: "progress", clock });
});
afterEach(() => environment.stop());

/** A reporter that notes what it is told, and in whose context. */
function noting(): { readonly seen: string[]; readonly reporter: ProgressReporter } {
  const seen: string[] = [];
  const note = (what: string): void => {
    seen.push(`${what}, ${tryUseContext(WHO) ?? "nobody"}`);
  };
  return {
    seen,
    reporter: {
      intervalMs: 50,
      start: ({ app, elapsedMs }) => {
        note(`start ${app} ${String(elapsedMs)}`);
      },
      update: ({ elapsedMs, stats }) => {
        note(`update ${String(elapsedMs)} ${String(stats.total.done)}/${String(stats.total.started)}`);
      },
      stop: ({ elapsedMs, stats }, outcome) => {
        note(`stop ${outcome} ${String(elapsedMs)} ${String(stats.total.done)}`);
      },
    },
  };
}

describe("app.run({ progress })", () => {
  test("tells the reporter from the begin of main to the end of the run, on the clock of the environment", async () => {
    const { seen, reporter } = noting();
    const door = gate();
    const wait = fn(() => door.promise);
    await environment.start();
    await clock.advance(7);
    const handle = withContext(WHO, "the caller", () =>
      new App({ name: "app", environment }, () => wait()).run({ progress: reporter }),
    );
    await clock.advance(49);
    expect(seen).toEqual(["start app 0, the caller"]);
    await clock.advance(1);
    door.open();
    await handle;
    expect(seen.slice(1)).toEqual(["update 50 0/1, the caller", "stop done 50 1, the caller"]);
    expect(clock.pending).toBe(0);
  });

  test("says of a run that failed, and of one that was aborted, how it has ended", async () => {
    const failed = noting();
    const app = new App({ name: "app", environment }, () => Promise.reject(new Error("no")));
    await errorOf(app.run({ progress: failed.reporter }));
    expect(failed.seen.at(-1)).toBe("stop failed 0 0, nobody");

    const aborted = noting();
    const door = gate();
    const handle = new App({ name: "app", environment }, () => door.promise).run({
      progress: aborted.reporter,
    });
    await settle();
    handle.abort("enough");
    door.open();
    expect(await errorOf(handle)).toBe("enough");
    expect(aborted.seen.at(-1)).toBe("stop aborted 0 0, nobody");
  });

  test("says of a run whose main gave up because of a stop that it was stopped", async () => {
    const { seen, reporter } = noting();
    const door = gate();
    const main = (): unknown => map(() => door.promise, [1, 2, 3], { concurrency: 1 });
    const over = errorOf(new App({ name: "app", environment }, main).run({ progress: reporter }));
    await settle();
    const stopped = environment.stop("for today");
    await settle();
    door.open();
    expect(await over).toBe("for today");
    await stopped;
    expect(seen.at(-1)).toBe("stop stopped 0 1, nobody");
  });

  test("tells nothing of a run that never began, and arms nothing", async () => {
    const { seen, reporter } = noting();
    const broken = new Environment({
      clock,
      lifespan: function* () {
        yield* [];
        throw new Error("not today");
      },
    });
    await errorOf(new App({ name: "app", environment: broken }, () => 1).run({ progress: reporter }));
    await errorOf(
      new App({ name: "app", environment }, () => 1).run({
        progress: reporter,
        signal: AbortSignal.abort("over"),
      }),
    );
    expect(seen).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("a reporter that throws in every method changes nothing", async () => {
    const bad = (): never => {
      throw new Error("reporter");
    };
    const reporter = { start: bad, update: bad, stop: bad, log: bad };
    const door = gate();
    const handle = new App({ name: "app", environment }, () => door.promise.then(() => 5)).run({
      progress: reporter,
    });
    await settle();
    await clock.advance(1_000);
    door.open();
    expect(await handle).toBe(5);
  });

  test("true and false are taken, anything else is refused before main is called", async () => {
    let calls = 0;
    const app = new App({ name: "app", environment }, () => (calls += 1));
    await app.run({ progress: false });
    await app.run({ progress: undefined });
    expect(calls).toBe(2);
    for (const progress of [1, "yes", null, {}, { update: 1 }, { update: () => 1, stop: 1 }]) {
      expect(await errorOf(app.run({ progress: progress as never }))).toMatchObject({
        code: "ARGUMENT_INVALID",
        message: expect.stringContaining("progress"),
      });
    }
    expect(calls).toBe(2);
  });

  test("the terminal shows the calls of the run and how it has ended", async () => {
    const written: string[] = [];
    const stream = { isTTY: false, write: (text: string) => written.push(text) };
    const twice = fn({ name: "twice" }, (n: number) => Promise.resolve(n * 2));
    const app = new App({ name: "numbers", environment }, () => Promise.all([twice(1), twice(2)]));
    await app.run({ progress: terminalProgress({ stream }) });
    expect(written.join("")).toContain("numbers done in 0 s: twice 2/2, 100%");
  });
});
