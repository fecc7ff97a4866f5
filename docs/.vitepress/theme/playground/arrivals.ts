import type { Settings } from "./settings.js";

/** Most requests of one run: what comes later is left out, and the page says so. */
export const MOST_REQUESTS = 20_000;

export interface Arrivals {
  /** When each request comes, in milliseconds, in order. */
  readonly times: readonly number[];
  /** Whether there would have been more than {@link MOST_REQUESTS}. */
  readonly cut: boolean;
}

/** When the requests come: those from 0 up to, not at, the end of the duration. */
export function arrivalsOf(settings: Settings): Arrivals {
  const end = settings.duration * 1000;
  const times: number[] = [];
  for (const time of timesOf(settings)) {
    if (time >= end) break;
    if (times.length === MOST_REQUESTS) return { times, cut: true };
    times.push(time);
  }
  return { times, cut: false };
}

/** Endless, but for the fan-out. */
function timesOf(settings: Settings): Iterable<number> {
  switch (settings.arrivals) {
    case "steady":
      return steady(1000 / settings.perSecond);
    case "burst":
      return bursts(settings.count, settings.every * 1000);
    case "poisson":
      return poisson(1000 / settings.perSecond, settings.seed);
    case "fan-out":
      return new Array<number>(settings.count).fill(0);
  }
}

function* steady(gapMs: number): Generator<number> {
  for (let k = 0; ; k += 1) yield k * gapMs;
}

function* bursts(count: number, gapMs: number): Generator<number> {
  for (let k = 0; ; k += 1) {
    for (let n = 0; n < count; n += 1) yield k * gapMs;
  }
}

/** Independent requests: the gaps between them are exponential. */
function* poisson(meanGapMs: number, seed: number): Generator<number> {
  const random = randomFrom(seed);
  for (let time = 0; ;) {
    time -= Math.log(random()) * meanGapMs;
    yield time;
  }
}

/** Numbers above 0 and below 1, the same ones for a seed on every machine: the generator of Park and Miller. */
function randomFrom(seed: number): () => number {
  const modulus = 2 ** 31 - 1;
  let state = seed;
  const next = (): number => {
    state = (state * 48_271) % modulus;
    return state / modulus;
  };
  // Seeds that lie close together give first numbers that do too.
  for (let skipped = 0; skipped < 10; skipped += 1) next();
  return next;
}
