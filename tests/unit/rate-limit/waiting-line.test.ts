import { describe, expect, test } from "@jest/globals";
import type { LineView, Meter } from "../../../src/rate-limit/line/meter.js";
import { WaitingLine } from "../../../src/rate-limit/line/waiting-line.js";
import { WatchedClock } from "./support/clocks.js";
import { Trace } from "./support/trace.js";

/** A meter that knows nothing until an answer comes, as one whose bucket lives in a store. */
class SlowMeter implements Meter<string> {
  readonly told: string[] = [];
  line: LineView<string> | undefined;
  /** When each cost is due, as far as it is known. */
  readonly due = new Map<string, number>();

  attach(line: LineView<string>): void {
    this.line = line;
  }

  tryTake(cost: string, now: number): boolean {
    return (this.due.get(cost) ?? Infinity) <= now;
  }

  headWaitMs(head: string, now: number): number {
    return (this.due.get(head) ?? Infinity) - now;
  }

  estimateMs(): number {
    return 0;
  }

  join(cost: string): void {
    this.told.push(`join ${cost}`);
  }

  leave(cost: string): void {
    this.told.push(`leave ${cost}`);
  }

  lead(head: string | undefined): void {
    this.told.push(`lead ${String(head)}`);
  }
}

function lineOver(meter: SlowMeter): {
  clock: WatchedClock;
  line: WaitingLine<string>;
  trace: Trace;
  acquire: (cost: string, maxWaitMs?: number) => void;
} {
  const clock = new WatchedClock();
  const line = new WaitingLine<string>({ name: "remote", clock, maxQueue: Infinity, meter });
  const trace = new Trace(clock);
  return {
    clock,
    line,
    trace,
    acquire: (cost, maxWaitMs) => {
      trace.follow(cost, line.acquire(cost, { maxWaitMs }, false));
    },
  };
}

describe("a line over a meter that answers later", () => {
  test("shows the costs that wait, and goes on when it is woken", async () => {
    const meter = new SlowMeter();
    const { clock, line, trace, acquire } = lineOver(meter);
    for (const cost of ["a", "b", "c"]) acquire(cost);
    expect([...(meter.line as LineView<string>).costs()]).toEqual(["a", "b", "c"]);
    expect(clock.pending).toBe(0);
    await clock.advance(50);
    meter.due.set("a", 50).set("b", 80).set("c", 80);
    meter.line?.wake();
    expect(line.queued).toBe(2);
    expect(clock.pending).toBe(1);
    await clock.advance(100);
    expect(trace.events).toEqual(["a t50", "b t80", "c t80"]);
    expect(clock.pending).toBe(0);
  });

  test("tells it who heads the line, once for each change", async () => {
    const meter = new SlowMeter();
    const { clock, line, acquire } = lineOver(meter);
    for (const cost of ["a", "b", "c"]) acquire(cost);
    expect(meter.told.splice(0)).toEqual(["join a", "lead a", "join b", "join c"]);
    meter.due.set("a", 0);
    line.wake();
    expect(meter.told.splice(0)).toEqual(["leave a", "lead b"]);
    line.close(undefined);
    expect(meter.told).toEqual(["leave b", "leave c", "lead undefined"]);
    await clock.advance(0);
  });

  test("keeps deadlines while it knows nothing", async () => {
    const meter = new SlowMeter();
    const { clock, trace, acquire } = lineOver(meter);
    acquire("a");
    acquire("b", 100);
    expect(clock.pending).toBe(1);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["b failed t100"]);
    expect(trace.reasonOf("b")).toMatchObject({ maxWaitMs: 100, estimatedWaitMs: Infinity });
  });

  test("passes nobody, though a later cost is due before the head", async () => {
    const meter = new SlowMeter();
    const { clock, line, trace, acquire } = lineOver(meter);
    acquire("a");
    acquire("b");
    meter.due.set("b", 0);
    line.wake();
    await clock.advance(10);
    expect(trace.events).toEqual([]);
    meter.due.set("a", 20);
    line.wake();
    await clock.advance(10);
    expect(trace.events).toEqual(["a t20", "b t20"]);
  });
});

describe("a stall of the process", () => {
  test("does not hide that a caller's time was over", async () => {
    const meter = new SlowMeter();
    const { clock, line, trace, acquire } = lineOver(meter);
    acquire("long over", 100);
    acquire("just over", 146);
    acquire("in time", 500);
    for (const cost of ["long over", "just over", "in time"]) meter.due.set(cost, 150);
    // The timer for t100 has not come by t150: the process was busy.
    const now = clock.now.bind(clock);
    clock.now = () => now() + 150;
    line.wake();
    clock.now = now;
    await clock.advance(0);
    expect([...trace.events].sort()).toEqual(["in time t0", "just over t0", "long over failed t0"]);
  });
});
