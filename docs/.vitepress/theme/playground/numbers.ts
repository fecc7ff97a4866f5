import { boundAt, type Dimensions } from "./dimensions.js";

/** What people ask of a run. */
export interface Numbers {
  readonly requests: number;
  /** When the last request was granted, in milliseconds. */
  readonly doneMs: number;
  readonly worstWaitMs: number;
  readonly medianWaitMs: number;
  /** Of each dimension: the part that was granted, by the end, of what the bound allows; 0 to 1. */
  readonly utilisation: readonly number[];
  readonly mostInLine: number;
  /** Of each dimension: tokens above the bound in the worst window of all; 0 or less when it was never passed. */
  readonly excess: readonly number[];
}

/** The grants are in the order of the arrivals. */
export function numbersOf(
  dimensions: Dimensions,
  arrivals: readonly number[],
  grants: readonly number[],
  mostInLine: number,
): Numbers {
  const waits = grants.map((at, id) => at - (arrivals[id] ?? NaN)).sort((a, b) => a - b);
  const doneMs = grants.at(-1) ?? 0;
  return {
    requests: grants.length,
    doneMs,
    worstWaitMs: waits.at(-1) ?? 0,
    medianWaitMs: medianOf(waits),
    utilisation: dimensions.map((one) => (grants.length * one.tokens) / boundAt(one, doneMs)),
    mostInLine,
    excess: dimensions.map(({ rate, tokens, ...rest }) => {
      const most = boundAt({ rate, tokens, ...rest }, 0);
      return mostAboveRate(grants, rate, tokens) - most;
    }),
  };
}

function medianOf(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return low === undefined || high === undefined ? 0 : (low + high) / 2;
}

/** Tokens granted in a window beyond what the rate gives in its length: the most, over all windows. */
function mostAboveRate(grants: readonly number[], rate: number, tokens: number): number {
  let most = 0;
  let above = 0;
  let before = 0;
  for (const at of grants) {
    above = Math.max(0, above - (rate * (at - before)) / 1000) + tokens;
    most = Math.max(most, above);
    before = at;
  }
  return most;
}
