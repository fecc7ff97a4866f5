import { shareOf } from "./hash.js";

/** Letters a token, as a client counts that has no tokenizer. */
const LETTERS = 4;

const FEWEST_TOKENS = 100;
export const MOST_TOKENS = 300;

/** Texts of about `FEWEST_TOKENS` to `MOST_TOKENS` tokens, the same in every run. */
export function makePrompts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const title = `Question ${String(index + 1)}. `;
    const tokens = FEWEST_TOKENS + Math.floor(shareOf(title) * (MOST_TOKENS - FEWEST_TOKENS + 1));
    return title.padEnd(tokens * LETTERS, "How high is the tide today? ");
  });
}

/** What a client can know before the call: the length. */
export function estimateTokens(prompt: string): number {
  return Math.ceil(prompt.length / LETTERS);
}

/** The most by which an estimate is wrong, either way, as a share of it. */
export const WORST_ERROR = 0.4;

/** What a call uses in fact, which no client can know: up to `WORST_ERROR` more or less than its estimate. */
export function tokensUsed(prompt: string): number {
  const error = WORST_ERROR * (2 * shareOf(`tokens of ${prompt}`) - 1);
  return Math.round(estimateTokens(prompt) * (1 + error));
}
