import { describe, expect, test } from "@jest/globals";
import { Environment } from "../../src/index.js";
import { CountedClock } from "../soak/counted-clock.js";
import { Generation } from "../soak/generation.js";
import { GrantLog } from "../soak/grants.js";
import { Heap } from "../soak/heap.js";
import { readOptions } from "../soak/options.js";
import { Holder, Meter } from "../soak/place.js";
import { playRound } from "../soak/round.js";
import { PlannedFailure, Stage } from "../soak/stage.js";
import { ROOT } from "../support/root.js";
import { runNode } from "../support/run-node.js";

const SOAK = ["--expose-gc", "--import", "tsx", "tests/soak/main.ts"];

test("two seconds of it find nothing", async () => {
  const { code, stdout, stderr } = await runNode([...SOAK, "--seconds", "2", "--seed", "7"], ROOT);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /^--seed 7;.*\nrounds [1-9]\d*, runs [1-9]\d*, aborts [1-9]\d*, stops [1-9]\d*, items [1-9]\d*, failures [1-9]\d*, heap \d+\.\d -> \d+\.\d MB, \d s\n$/,
  );
}, 30_000);

describe("options", () => {
  test.each([
    ["--seconds", "0", '--seconds must be a finite number above 0; got "0".'],
    ["--seconds", "ten", '--seconds must be a finite number above 0; got "ten".'],
    ["--seconds", "Infinity", '--seconds must be a finite number above 0; got "Infinity".'],
    ["--seed", "1.5", '--seed must be an integer from 0 to 4294967295; got "1.5".'],
    ["--seed", "", '--seed must be an integer from 0 to 4294967295; got "".'],
    ["--seed", "4294967296", '--seed must be an integer from 0 to 4294967295; got "4294967296".'],
  ])("%s %s is refused", (option, value, message) => {
    expect(() => readOptions([option, value])).toThrow(new TypeError(message));
  });

  test("600 seconds and any seed by default", () => {
    expect(readOptions([])).toEqual({ seconds: 600, seed: expect.any(Number) });
    expect(readOptions(["--seconds", "0.5", "--seed", "0"])).toEqual({ seconds: 0.5, seed: 0 });
  });

  test("a bad one is one line and exit code 2", async () => {
    const { code, stdout, stderr } = await runNode([...SOAK, "--sed", "1"], ROOT);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^Unknown option '--sed'.*\n$/);
  }, 30_000);
});

describe("a fault that was planted is found", () => {
  test("a timer that nobody cancels", async () => {
    class LeakyClock extends CountedClock {
      override schedule(delayMs: number, callback: () => void): () => void {
        const cancel = super.schedule(delayMs, callback);
        return () => {
          cancel();
          this.pending += 1;
        };
      }
    }
    const stage = new Stage({ clock: new LeakyClock() });
    await playRound(stage, 3);
    expect(stage.faults[0]).toMatch(/^after a stop: \d+ timers are left$/);
  }, 30_000);

  test("a listener that stays on a signal", async () => {
    const { signal } = new AbortController();
    signal.removeEventListener = () => undefined;
    const stage = new Stage({ signal });
    await playRound(stage, 3);
    expect(stage.faults[0]).toMatch(/^after a stop: \d+ listeners are left on a signal$/);
  }, 30_000);

  test("one too many at once, also of work that has waited", () => {
    const stage = new Stage();
    const meter = new Meter(stage, "two", 2);
    const run = { slots: meter, signal: new AbortController().signal, bodies: 0 };
    const holders = [1, 2].map(() => new Holder(meter, run));
    holders[0]?.beginWait();
    const third = new Holder(meter, run);
    expect(stage.faults).toEqual([]);
    holders[0]?.endWait();
    expect(stage.faults).toEqual(["two: 3 at once, 2 are allowed"]);
    third.end();
    third.beginWait();
    third.endWait();
    new Meter(stage, "other", 1).enter();
    expect(stage.faults).toHaveLength(1);
  });

  test("a token above the bound of a limiter, refunds taken off", () => {
    const faults: string[] = [];
    const log = new GrantLog("ten", 10, 2, (text) => faults.push(text));
    log.granted(2, 0);
    log.refunded(1);
    log.granted(1, 0);
    log.granted(1, 0.1);
    expect(faults).toEqual([]);
    log.granted(1, 0.19);
    expect(faults).toEqual([
      expect.stringMatching(/^limiter ten has granted 2\.1\d* above its rate; 2\.05 /),
    ]);
  });

  test("closers in the wrong order, too early, or never called", () => {
    const stage = new Stage();
    const parent = new Generation(stage, new Environment({ name: "parent" }), undefined);
    const child = new Generation(stage, new Environment({ name: "child" }), parent);
    const found = (): string[] => stage.faults.splice(0).map((fault) => fault.replace(/ \d+(?=[ :])/g, ""));
    for (const name of ["a", "b", "c"]) parent.opened(name);
    child.opened("a");
    child.bodies = 2;
    child.left();
    child.bodies = 0;
    expect(found()).toEqual(["the code after the yield of child ran beside bodies"]);
    parent.closed("c");
    expect(found()).toEqual(["the closer of c of parent ran before its children were closed"]);
    child.closed("a");
    parent.closed("a");
    expect(found()).toEqual(["parent: a was closed, and b is due"]);
    parent.left();
    parent.checkOver();
    child.checkOver();
    expect(found()).toEqual([
      "parent: the code after the yield came after a closer",
      "parent: never closed: a",
    ]);
  });

  test("a failure that no plan has asked for", () => {
    const stage = new Stage();
    const planned = new PlannedFailure("x");
    stage.expectFailure(planned, "a run");
    stage.expectFailure(new AggregateError([planned, planned]), "a stop");
    expect(stage.faults).toEqual([]);
    stage.expectFailure(new AggregateError([planned, new RangeError("y")], "two"), "a stop");
    expect(stage.faults).toEqual([expect.stringMatching(/^a stop failed: AggregateError: two/)]);
    expect(stage.counts.failures).toBe(2);
  });

  test("a heap that grows, by quarters", () => {
    const heap = new Heap();
    heap.samples.push(...Array<number>(19).fill(10));
    heap.samples[18] = 1_000;
    expect(heap.fault()).toBeUndefined();
    heap.samples.splice(0, 19, ...Array<number>(15).fill(10), ...Array<number>(5).fill(14));
    expect(heap.fault()).toBeUndefined();
    heap.samples[19] = 14.1;
    expect(heap.fault()).toBe("the heap has grown from 10.0 MB in the first quarter to 14.0 MB in the last");
  });
});
