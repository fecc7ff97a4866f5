/**
 * Numbers from 0 to below 1 that look random and are the same for the same seed (the generator is a xorshift of 32 bits).
 *
 * @param {number} seed An integer.
 */
export function randomNumbers(seed) {
  let state = seed | 0 || 1; // zero would stay zero
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** A copy of `items` in an order that `random` chooses, each order as likely as any other. */
export function shuffled(items, random) {
  const order = [...items];
  for (let end = order.length - 1; end > 0; end -= 1) {
    const other = Math.floor(random() * (end + 1));
    [order[end], order[other]] = [order[other], order[end]];
  }
  return order;
}
