import { ManualClock } from "tidegate/testing";
import { arrivalsOf } from "./arrivals.js";
import { type Dimensions, dimensionsOf } from "./dimensions.js";
import { lineOf } from "./line.js";
import { type Numbers, numbersOf } from "./numbers.js";
import type { Settings } from "./settings.js";

/** How the limiter stood at one moment. */
export interface Reading {
  /** Milliseconds. */
  readonly at: number;
  /** Requests that wait. */
  readonly queued: number;
  /** Tokens in the bucket of each dimension. */
  readonly tokens: readonly number[];
}

export interface Run {
  readonly dimensions: Dimensions;
  /** When each request came, in milliseconds. */
  readonly arrivals: readonly number[];
  /** When each request was granted, in milliseconds, in the same order. */
  readonly grants: readonly number[];
  readonly readings: readonly Reading[];
  /** When it was over: requests come no more, and nobody waits. */
  readonly endMs: number;
  /** Whether requests were left out, because there were too many. */
  readonly cut: boolean;
  readonly numbers: Numbers;
}

/** Parts of a run between which the caller may do something else. */
const SLICES = 500;

/**
 * Plays the requests against a limiter on a manual clock, until all are granted.
 *
 * @param breathe - Called between parts of the run, and awaited. When it throws, the run ends with that error.
 */
export async function simulate(
  settings: Settings,
  breathe: () => Promise<void> | undefined = () => undefined,
): Promise<Run> {
  const clock = new ManualClock();
  const dimensions = dimensionsOf(settings);
  const line = lineOf(dimensions, clock);
  const { times, cut } = arrivalsOf(settings);
  const arrivals: number[] = [];
  const grants: number[] = [];
  const readings: Reading[] = [];

  const read = (): void => {
    readings.push({ at: clock.now(), ...line.read() });
  };
  const come = (): void => {
    read();
    const now = times[arrivals.length];
    while (arrivals.length < times.length && times[arrivals.length] === now) {
      const id = arrivals.push(clock.now()) - 1;
      void line.acquire().then(() => {
        grants[id] = clock.now();
      });
    }
    read();
    // Each arrival sets the timer of the next one: the clock would search thousands of timers for the first.
    if (arrivals.length < times.length) waitForNext();
  };
  const waitForNext = (): void => {
    clock.schedule(Math.max(0, (times[arrivals.length] ?? 0) - clock.now()), come);
  };

  if (settings.pauseFor > 0) {
    clock.schedule(settings.pauseAt * 1000, () => {
      line.pause(settings.pauseFor * 1000);
    });
  }
  if (times.length > 0) waitForNext();
  const comeUntil = cut || settings.arrivals === "fan-out" ? (times.at(-1) ?? 0) : settings.duration * 1000;
  const slice = Math.max(comeUntil, drainMs(dimensions, times.length)) / SLICES;
  do {
    await clock.advance(slice);
    read();
    await breathe();
  } while (clock.now() < comeUntil || line.read().queued > 0);

  const mostInLine = readings.reduce((most, { queued }) => Math.max(most, queued), 0);
  const numbers = numbersOf(dimensions, arrivals, grants, mostInLine);
  return { dimensions, arrivals, grants, readings, endMs: clock.now(), cut, numbers };
}

/** How long the slowest dimension needs for the tokens of all requests. */
function drainMs(dimensions: Dimensions, requests: number): number {
  return Math.max(...dimensions.map(({ rate, tokens }) => (requests * tokens * 1000) / rate));
}
