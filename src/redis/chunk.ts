import type { HeldTokens } from "./held-tokens.js";
import type { Amounts } from "./store.js";

// What those in line have, and what they need, in the order of the line.

export function* amountsOfEach<C>(
  costs: Iterable<C>,
  amountsOf: (cost: C) => Amounts,
): Generator<Amounts, void, void> {
  for (const cost of costs) yield amountsOf(cost);
}

/**
 * Those for whom all is held, the head first: how many, and what they take together.
 *
 * @param mayKeep - Whether what is held for the first of them may be kept for one more.
 */
export function servedOf(
  costs: Iterable<Amounts>,
  held: HeldTokens,
  mayKeep: (sum: Amounts) => boolean = () => true,
): { readonly count: number; readonly sum: Amounts } {
  let count = 0;
  let sum: Amounts = [];
  for (const amounts of costs) {
    const next = added(sum, amounts);
    if (next.some((tokens, d) => tokens > held.total(d)) || !mayKeep(next)) break;
    sum = next;
    count += 1;
  }
  return { count, sum };
}

/**
 * What may be kept when one has left. What is not enough for the next one may not wait here until the rest is there: the
 * store takes it when it is due, and would gain anew in the meantime. And what has come together for a large head that has
 * left is no burst for those behind it: of what is there already, as much is kept as a bucket holds, or the head needs.
 *
 * @param there - What is held and there already, of dimension `d`: whether it is as much as `tokens`.
 */
export function keepable(
  costs: () => Iterable<Amounts>,
  held: HeldTokens,
  capacities: Amounts,
  there: (d: number, tokens: number) => boolean,
): Amounts {
  const [head = []] = costs();
  const most = capacities.map((capacity, d) => Math.max(capacity, head[d] ?? 0));
  const mayKeep = (sum: Amounts): boolean =>
    most.every((tokens, d) => (sum[d] ?? 0) <= tokens || !there(d, tokens));
  return servedOf(costs(), held, mayKeep).sum;
}

/** What the first one needs for whom not all is held, and those behind it as far as they fit in `most`. */
export function missingOf(costs: () => Iterable<Amounts>, held: HeldTokens, most: Amounts): Amounts {
  let { count } = servedOf(costs(), held);
  let sum: Amounts = [];
  for (const amounts of costs()) {
    count -= 1;
    if (count >= 0) continue;
    const next = added(sum, amounts);
    const isFirst = sum.length === 0;
    if (!isFirst && next.some((tokens, d) => amounts[d] !== 0 && tokens > (most[d] ?? NaN))) break;
    sum = next;
  }
  return sum;
}

function added(sum: Amounts, amounts: Amounts): Amounts {
  return amounts.map((tokens, d) => tokens + (sum[d] ?? 0));
}
