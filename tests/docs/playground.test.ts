import { describe, expect, test } from "@jest/globals";
import { arrivalsOf, MOST_REQUESTS } from "../../docs/.vitepress/theme/playground/arrivals.js";
import { figuresOf } from "../../docs/.vitepress/theme/playground/figures.js";
import { timeText } from "../../docs/.vitepress/theme/playground/format.js";
import { LatestRun } from "../../docs/.vitepress/theme/playground/latest-run.js";
import { numbersOf } from "../../docs/.vitepress/theme/playground/numbers.js";
import { plotOf } from "../../docs/.vitepress/theme/playground/plot.js";
import { thinned, ticksTo } from "../../docs/.vitepress/theme/playground/scale.js";
import {
  fromQuery,
  initialSettings,
  type Settings,
  SLIDERS,
  toQuery,
} from "../../docs/.vitepress/theme/playground/settings.js";
import { type Run, simulate } from "../../docs/.vitepress/theme/playground/simulate.js";
import { exactRun } from "../support/playground-exact.js";

const settingsOf = (changes: Partial<Settings>): Settings => ({ ...initialSettings(), ...changes });

describe("the settings in the address", () => {
  test("come back as they were", () => {
    const settings = settingsOf({ rate: 12.5, arrivals: "poisson", second: true, tokens2: 900, seed: 7 });
    expect(fromQuery(toQuery(settings))).toEqual(settings);
  });

  test("are only those that differ from the first ones", () => {
    expect(toQuery(initialSettings())).toBe("");
    expect(toQuery(settingsOf({ rate: 12.5, second: true }))).toBe("?rate=12.5&second=on");
  });

  test.each([
    ["no number", "rate=fast"],
    ["nothing", "rate="],
    ["nothing, where nought can be", "pauseAt="],
    ["below the least", "rate=0"],
    ["above the most", "rate=201"],
    ["between two steps", "rate=12.3"],
    ["no finite number", "rate=Infinity"],
    ["no kind of arrivals", "arrivals=toString"],
    ["neither on nor off", "second=1"],
    ["an unknown name", "__proto__=5"],
  ])("that are %s stand at their first value, and the rest is kept", (_, broken) => {
    expect(fromQuery(`?${broken}&burst=2`)).toEqual(settingsOf({ burst: 2 }));
  });

  test("start at values that the sliders can show", () => {
    for (const { min, max, step, initial } of Object.values(SLIDERS)) {
      expect(initial).toBeGreaterThanOrEqual(min);
      expect(initial).toBeLessThanOrEqual(max);
      expect(Number.isInteger((initial - min) / step)).toBe(true);
      expect(Number.isInteger((max - min) / step)).toBe(true);
    }
  });
});

describe("the arrivals", () => {
  test("come steadily, up to the end of the duration and not at it", () => {
    const { times, cut } = arrivalsOf(settingsOf({ perSecond: 4, duration: 10 }));
    expect(times).toHaveLength(40);
    expect([times[0], times[1], times.at(-1)]).toEqual([0, 250, 9750]);
    expect(cut).toBe(false);
  });

  test("come in bursts", () => {
    const { times } = arrivalsOf(settingsOf({ arrivals: "burst", count: 2, every: 10, duration: 30 }));
    expect(times).toEqual([0, 0, 10_000, 10_000, 20_000, 20_000]);
  });

  test("come as a fan-out, all at once", () => {
    expect(arrivalsOf(settingsOf({ arrivals: "fan-out", count: 3 })).times).toEqual([0, 0, 0]);
  });

  test("come at random, the same for a seed, at the rate that was asked, with gaps that vary as much as they are long", () => {
    const settings = settingsOf({ arrivals: "poisson", perSecond: 5, duration: 3000 });
    const { times } = arrivalsOf(settings);
    expect(arrivalsOf(settings).times).toEqual(times);
    expect(arrivalsOf({ ...settings, seed: 2 }).times).not.toEqual(times);
    expect(times.length / 3000).toBeCloseTo(5, 0);
    const gaps = times.map((time, index) => time - (times[index - 1] ?? 0));
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
    expect(Math.min(...gaps)).toBeGreaterThan(0);
    expect(Math.sqrt(variance) / mean).toBeCloseTo(1, 1);
  });

  test("are cut when there are too many, and not when there are just as many as may be", () => {
    const { times, cut } = arrivalsOf(settingsOf({ perSecond: 400, duration: 60 }));
    expect([times.length, cut]).toEqual([MOST_REQUESTS, true]);
    const full = arrivalsOf(settingsOf({ perSecond: 400, duration: 50 }));
    expect([full.times.length, full.cut]).toEqual([MOST_REQUESTS, false]);
  });
});

describe("the latest run", () => {
  const hour = settingsOf({ perSecond: 5, duration: 3600 });

  test("ends the one before", async () => {
    const latest = new LatestRun();
    const ended: string[] = [];
    const first = latest.of(hour).finally(() => ended.push("first"));
    const second = latest.of(settingsOf({ arrivals: "fan-out" })).finally(() => ended.push("second"));
    expect(await first).toBeUndefined();
    expect((await second)?.numbers.requests).toBe(500);
    expect(ended).toEqual(["first", "second"]);
  });

  test("is the only one that has a result, also of runs that are over in one go", async () => {
    const latest = new LatestRun();
    const one = settingsOf({ arrivals: "fan-out", count: 1 });
    const [first, second] = await Promise.all([latest.of(one), latest.of(one)]);
    expect(first).toBeUndefined();
    expect(second?.numbers.requests).toBe(1);
  });

  test("ends when it is stopped, and gives the page its turn until then", async () => {
    const latest = new LatestRun();
    const run = latest.of(hour);
    setTimeout(() => {
      latest.stop();
    });
    expect(await run).toBeUndefined();
  });
});

describe("what people read", () => {
  test.each([
    [0, "0 ms"],
    [12.3456, "12.35 ms"],
    [1000, "1 s"],
    [9000.0000004, "9 s"],
    [119_000, "119 s"],
    [4_498_500, "74.98 min"],
    [7_200_000, "2 h"],
  ])("the time %d ms is %s", (ms, text) => {
    expect(timeText(ms)).toBe(text);
  });

  test("the numbers of two dimensions, and of a bound that was passed", async () => {
    const run = await simulate(settingsOf({ arrivals: "fan-out", second: true }));
    const textOf = (name: string, of: Run): string | undefined =>
      figuresOf(of).find((figure) => figure.name === name)?.text;
    // 500 requests of 200 tokens under 5000 + 5000 a second: 25 at once, the last after 19 s.
    expect(textOf("done", run)).toBe("19 s");
    expect(textOf("utilisation", run)).toBe("50% and 100%");
    expect(textOf("bound", run)).toBe("never");
    const passed = numbersOf(run.dimensions, [0, 0], [0, 0], 0);
    const tooMany = Array.from({ length: 53 }, () => 1000);
    expect(passed.excess).toEqual([2 - 50, 400 - 5000]);
    const numbers = numbersOf([run.dimensions[0]], tooMany, tooMany, 0);
    expect(textOf("bound", { ...run, numbers })).toBe("by 3 tokens");
  });

  test.each([
    [1.08, [0, 0.5, 1]],
    [1944, [0, 500, 1000, 1500]],
    [35, [0, 10, 20, 30]],
    [7, [0, 2, 4, 6]],
  ])("the axis up to %d has its marks at %j", (most, ticks) => {
    expect(ticksTo(most)).toEqual(ticks);
  });
});

describe("the plot", () => {
  test("draws the least of the bounds, and grants below arrivals", async () => {
    const run = await simulate(settingsOf({ arrivals: "fan-out", second: true }));
    const [panel] = plotOf(run, 640).panels;
    const pathOf = (name: string): string => panel?.curves.find((curve) => curve.name === name)?.path ?? "";
    const startOf = (name: string): number => Number(/^M\S+ ([^L]+)/.exec(pathOf(name))?.[1]);
    const foot = (panel?.top ?? NaN) + (panel?.height ?? NaN);
    // 25 of 500 at the start: the second dimension is short.
    expect(startOf("bound")).toBeCloseTo(foot - (25 / 540) * (panel?.height ?? NaN), 0);
    expect(pathOf("grants")).not.toBe(pathOf("arrivals"));
  });

  test("leaves out points of a column but the first, the lowest, the highest and the last", () => {
    const points = [3, 5, 4, 1, 2, 9].map((y, index) => ({ x: index / 5, y }));
    expect(thinned(points, 1).map(({ y }) => y)).toEqual([3, 5, 1, 2, 9]);
    expect(thinned([], 1)).toEqual([]);
  });

  test("stays small, and inside of its frame", async () => {
    const run = await simulate(settingsOf({ perSecond: 200, rate: 150, duration: 100 }));
    const plot = plotOf(run, 390);
    const curves = plot.panels.flatMap((panel) =>
      panel.curves.filter(({ name }) => name !== "bound").map((curve) => ({ panel, curve })),
    );
    expect(curves).toHaveLength(4);
    for (const { panel, curve } of curves) {
      const places = [...curve.path.matchAll(/[ML](\S+) ([^ML]+)/g)].map(([, x, y]) => [
        Number(x),
        Number(y),
      ]);
      expect(places.length).toBeGreaterThan(100);
      expect(places.length).toBeLessThan(390 * 4);
      for (const [x = NaN, y = NaN] of places) {
        expect(x).toBeGreaterThanOrEqual(plot.left - 0.1);
        expect(x).toBeLessThanOrEqual(plot.right + 0.1);
        expect(y).toBeGreaterThanOrEqual(panel.top);
        expect(y).toBeLessThanOrEqual(panel.top + panel.height + 0.1);
      }
    }
  });
});

describe("a run", () => {
  const twice = { second: true, rate2: 1000, burst2: 2, tokens2: 150 };
  test.each<[string, Partial<Settings>]>([
    ["more requests than the rate carries", { perSecond: 60, duration: 10 }],
    ["a rate that no double holds the gaps of", { rate: 3, burst: 0, perSecond: 4, duration: 20 }],
    ["bursts", { arrivals: "burst", count: 90, every: 3, duration: 10 }],
    ["random arrivals", { arrivals: "poisson", rate: 20, perSecond: 18, duration: 20, burst: 0.5 }],
    ["a fan-out", { arrivals: "fan-out", count: 200 }],
    ["requests above the bucket", { arrivals: "poisson", rate: 20, burst: 0.5, tokens: 35, perSecond: 1 }],
    ["a pause", { perSecond: 40, duration: 20, pauseAt: 4, pauseFor: 5 }],
    ["a pause from the start", { perSecond: 40, duration: 10, pauseAt: 0, pauseFor: 2 }],
    ["a pause of a fan-out", { arrivals: "fan-out", count: 200, pauseAt: 2, pauseFor: 5 }],
    ["two dimensions", { ...twice, perSecond: 9, duration: 20 }],
    ["two dimensions and a pause", { ...twice, arrivals: "fan-out", count: 99, pauseAt: 2, pauseFor: 5 }],
  ])("grants as the exact model does: %s", async (_, changes) => {
    const settings = settingsOf(changes);
    const run = await simulate(settings);
    const exact = exactRun(settings, run.arrivals);
    const { times } = arrivalsOf(settings);
    expect(run.arrivals).toHaveLength(times.length);
    for (const [id, at] of run.arrivals.entries()) expect(at).toBeCloseTo(times[id] ?? NaN, 6);
    expect(run.grants).toHaveLength(times.length);
    for (const [id, at] of run.grants.entries()) expect(at).toBeCloseTo(exact.grants[id] ?? NaN, 5);
    expect(run.numbers.mostInLine).toBe(exact.mostInLine);
    for (const excess of run.numbers.excess) expect(excess).toBeLessThan(1e-6);
  });

  test("tells the numbers: 500 at once under 50 a second", async () => {
    const { numbers, endMs, cut } = await simulate(settingsOf({ arrivals: "fan-out", count: 500 }));
    expect(numbers.requests).toBe(500);
    expect(numbers.doneMs).toBeCloseTo(9000, 6);
    expect(numbers.worstWaitMs).toBeCloseTo(9000, 6);
    expect(numbers.medianWaitMs).toBeCloseTo(4010, 6); // between the 250th and the 251st
    expect(numbers.utilisation).toEqual([expect.closeTo(1, 9)]);
    expect(numbers.excess).toEqual([expect.closeTo(0, 6)]);
    expect(numbers.mostInLine).toBe(450);
    expect(endMs).toBeGreaterThanOrEqual(9000);
    expect(endMs).toBeLessThan(9100);
    expect(cut).toBe(false);
  });

  test("lasts as long as requests come, and reads the bucket all the time", async () => {
    const { numbers, readings, endMs } = await simulate(settingsOf({ perSecond: 1, rate: 5, duration: 10 }));
    expect(endMs).toBeCloseTo(10_000, 0);
    expect(numbers.utilisation).toEqual([expect.closeTo(10 / (5 + 5 * 9), 9)]);
    expect(numbers.mostInLine).toBe(0);
    const lowest = Math.min(...readings.map(({ tokens }) => tokens[0] ?? NaN));
    const highest = Math.max(...readings.map(({ tokens }) => tokens[0] ?? NaN));
    expect([lowest, highest]).toEqual([4, 5]);
    expect(readings.map(({ at }) => at)).toEqual(readings.map(({ at }) => at).sort((a, b) => a - b));
  });

  test("of no request at all has numbers too", async () => {
    const settings = settingsOf({ arrivals: "poisson", perSecond: 0.5, duration: 10 });
    const seed = Array.from({ length: 10_000 }, (_, index) => index + 1).find(
      (one) => arrivalsOf({ ...settings, seed: one }).times.length === 0,
    );
    const { numbers } = await simulate({ ...settings, seed: seed ?? 0 });
    expect(numbers).toMatchObject({ requests: 0, doneMs: 0, worstWaitMs: 0, medianWaitMs: 0, mostInLine: 0 });
  });

  test("ends when what it breathes with throws", async () => {
    const outdated = new Error("outdated");
    let breaths = 0;
    const run = simulate(initialSettings(), () => {
      breaths += 1;
      return breaths === 3 ? Promise.reject(outdated) : undefined;
    });
    await expect(run).rejects.toBe(outdated);
    expect(breaths).toBe(3);
  });
});
