import { expect, jest, test } from "@jest/globals";
import { currentFrame, type Frame, deriveFrame, runInFrame } from "../../../../src/context/index.js";
import { ProgressDriver } from "../../../../src/pipeline/progress/driver.js";
import type { ProgressReport, ProgressReporter } from "../../../../src/pipeline/progress/reporter.js";
import type { RunStats } from "../../../../src/pipeline/run/run-stats.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { settle } from "../helpers.js";
import { reportOf } from "./support/reports.js";

const STATS = reportOf(0).stats;

interface Told {
  readonly told: string[];
  readonly reporter: ProgressReporter;
}

/** A reporter that writes down what it is told, then does what `act` does. */
function telling(act: (what: string) => unknown = () => undefined, intervalMs?: number): Told {
  const told: string[] = [];
  const tell = (what: string): unknown => {
    told.push(what);
    return act(what.split(" ")[0] as string);
  };
  const at = ({ app, elapsedMs }: ProgressReport): string => `${app} ${String(elapsedMs)}`;
  const reporter = {
    intervalMs,
    start: (report: ProgressReport) => tell(`start ${at(report)}`),
    update: (report: ProgressReport) => tell(`update ${at(report)}`),
    log: (line: string) => tell(`log ${line}`),
    stop: (report: ProgressReport, outcome: string) => tell(`stop ${at(report)} ${outcome}`),
  };
  return { told, reporter: reporter };
}

function drive(
  reporter: true | ProgressReporter,
  clock: ManualClock,
  readStats: () => RunStats = () => STATS,
): ProgressDriver {
  return new ProgressDriver(reporter, "crawl", clock, readStats);
}

test("tells at the start, at each interval of 100 ms, and at the end, by the time since the start", async () => {
  const clock = new ManualClock();
  await clock.advance(1_000);
  const { told, reporter } = telling();
  const driver = drive(reporter, clock);
  await clock.advance(500);
  driver.start();
  await clock.advance(99);
  expect(told).toEqual(["start crawl 0"]);
  await clock.advance(1);
  expect(told).toEqual(["start crawl 0", "update crawl 100"]);
  await clock.advance(150);
  driver.stop("failed");
  expect(told).toEqual(["start crawl 0", "update crawl 100", "update crawl 200", "stop crawl 250 failed"]);
});

test("the reporter chooses the interval, fractions too", async () => {
  const clock = new ManualClock();
  const { told, reporter } = telling(undefined, 2.5);
  const driver = drive(reporter, clock);
  driver.start();
  await clock.advance(7.5);
  driver.stop("done");
  expect(told.filter((what) => what.startsWith("update"))).toEqual([
    "update crawl 2.5",
    "update crawl 5",
    "update crawl 7.5",
  ]);
});

test("an interval that is longer than a timer takes", async () => {
  const clock = new ManualClock();
  const { told, reporter } = telling(undefined, 2 ** 32);
  const driver = drive(reporter, clock);
  driver.start();
  await clock.advance(2 ** 32 - 1);
  expect(told).toEqual(["start crawl 0"]);
  await clock.advance(1);
  expect(told).toHaveLength(2);
  driver.stop("done");
  expect(clock.pending).toBe(0);
});

test("has one timer from the start to the end, and none before and after", async () => {
  const clock = new ManualClock();
  const driver = drive(telling().reporter, clock);
  expect(clock.pending).toBe(0);
  driver.start();
  expect(clock.pending).toBe(1);
  await clock.advance(1_000);
  expect(clock.pending).toBe(1);
  driver.stop("done");
  expect(clock.pending).toBe(0);
});

test("does nothing after the end, nor before the start", async () => {
  const clock = new ManualClock();
  const { told, reporter } = telling();
  const driver = drive(reporter, clock);
  driver.stop("done");
  expect(driver.log("early")).toBe(false);
  expect(told).toEqual([]);
  driver.start();
  driver.stop("done");
  driver.stop("failed");
  expect(driver.log("late")).toBe(false);
  await clock.advance(1_000);
  expect(told).toEqual(["start crawl 0", "stop crawl 0 done"]);
});

test.each(["start", "update"])("a reporter that ends the run in %s is told nothing more", async (when) => {
  const clock = new ManualClock();
  const { told, reporter } = telling((what) => {
    if (what === when) driver.stop("aborted");
  });
  const driver = drive(reporter, clock);
  driver.start();
  await clock.advance(1_000);
  expect(told.slice(-2)).toEqual([`${when} crawl ${when === "start" ? "0" : "100"}`, told.at(-1)]);
  expect(told.at(-1)).toMatch(/^stop .* aborted$/);
  expect(clock.pending).toBe(0);
});

test("the statistics are read at each time, only for those who want them", async () => {
  const clock = new ManualClock();
  const readStats = jest.fn(() => ({ ...STATS }));
  const seen: RunStats[] = [];
  const driver = drive({ update: ({ stats }) => void seen.push(stats) }, clock, readStats);
  driver.start();
  await clock.advance(200);
  driver.stop("done");
  expect(readStats).toHaveBeenCalledTimes(2);
  expect(seen[0]).toBe(readStats.mock.results[0]?.value);
  expect(seen[1]).toBe(readStats.mock.results[1]?.value);
});

test("methods are called on the reporter", async () => {
  class Counting implements ProgressReporter {
    readonly intervalMs = 10;
    calls = 0;
    start(): void {
      this.calls += 1;
    }
    update(): void {
      this.calls += 1;
    }
    log(): void {
      this.calls += 1;
    }
    stop(): void {
      this.calls += 1;
    }
  }
  const clock = new ManualClock();
  const reporter = new Counting();
  const driver = drive(reporter, clock);
  driver.start();
  await clock.advance(10);
  driver.log("line");
  driver.stop("done");
  expect(reporter.calls).toBe(4);
});

test("hands lines on, and says whether they were taken", () => {
  const clock = new ManualClock();
  const { told, reporter } = telling();
  const driver = drive(reporter, clock);
  driver.start();
  expect(driver.log("one\ntwo")).toBe(true);
  expect(told).toEqual(["start crawl 0", "log one\ntwo"]);
  driver.stop("done");

  const mute = drive({ update: () => undefined }, clock);
  mute.start();
  expect(mute.log("lost?")).toBe(false);
  mute.stop("done");

  const broken = drive(telling((what) => (what === "log" ? fail() : undefined)).reporter, clock);
  broken.start();
  expect(broken.log("lost?")).toBe(false);
  broken.stop("done");
});

function fail(): never {
  throw new Error("no");
}

test.each([
  ["throws", (): unknown => fail()],
  ["rejects", (): unknown => Promise.reject(new Error("no"))],
  [
    "gives a thenable that throws",
    (): unknown => ({
      then: fail,
    }),
  ],
  [
    "gives a thenable that rejects",
    (): unknown => ({
      then: (_: unknown, reject: (e: Error) => void) => {
        reject(new Error("no"));
      },
    }),
  ],
])("a reporter that %s harms nothing, and is told what follows", async (_, act) => {
  const unhandled = jest.fn();
  process.on("unhandledRejection", unhandled);
  try {
    const clock = new ManualClock();
    const { told, reporter } = telling(act);
    const driver = drive(reporter, clock);
    driver.start();
    await clock.advance(200);
    driver.log("line");
    driver.stop("done");
    expect(told).toEqual([
      "start crawl 0",
      "update crawl 100",
      "update crawl 200",
      "log line",
      "stop crawl 200 done",
    ]);
    expect(clock.pending).toBe(0);
    await settle();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off("unhandledRejection", unhandled);
  }
});

test("statistics that cannot be read harm nothing", async () => {
  const clock = new ManualClock();
  let isBroken = true;
  const { told, reporter } = telling();
  const driver = drive(reporter, clock, () => {
    if (isBroken) fail();
    return STATS;
  });
  driver.start();
  await clock.advance(100);
  expect(told).toEqual([]);
  isBroken = false;
  await clock.advance(100);
  driver.stop("done");
  expect(told).toEqual(["update crawl 200", "stop crawl 200 done"]);
});

test("the reporter is called in the frame of the code that has made the driver, whoever starts and stops it", async () => {
  const clock = new ManualClock();
  const frames: (Frame | undefined)[] = [];
  const { reporter } = telling(() => frames.push(currentFrame()));
  const [mine, other] = [deriveFrame(undefined, {}), deriveFrame(undefined, {})];
  const driver = runInFrame(mine, () => drive(reporter, clock));
  await runInFrame(other, async () => {
    driver.start();
    await clock.advance(100);
    driver.log("line");
    driver.stop("done");
  });
  expect(frames).toHaveLength(4);
  expect(frames.every((frame) => frame === mine)).toBe(true);
});

test("a driver made outside every frame calls outside every frame", () => {
  let frame: Frame | undefined;
  const { reporter } = telling(() => (frame = currentFrame()));
  const driver = drive(reporter, new ManualClock());
  runInFrame(deriveFrame(undefined, {}), () => {
    driver.start();
    driver.stop("done");
  });
  expect(frame).toBeUndefined();
});

test("`true` shows the run on the standard error", async () => {
  const clock = new ManualClock();
  const write = jest.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const driver = drive(true, clock);
    driver.start();
    driver.stop("done");
    expect(write.mock.calls.map(([text]) => text)).toEqual(["crawl done in 0 s\n"]);
  } finally {
    write.mockRestore();
  }
});
