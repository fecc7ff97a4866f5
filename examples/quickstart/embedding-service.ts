import { shareOf } from "../support/hash.js";
import { Quota, type QuotaRate, takeAll } from "../support/quota.js";
import { type Service, startService } from "../support/service.js";

const DIMENSIONS = 16;

/** A stand-in for a hosted embedding API, with a 429 for every request above the quota. */
export function startEmbeddingService(rate: QuotaRate): Promise<Service> {
  const requests = new Quota(rate);
  return startService({
    admit: () => takeAll([requests, 1]),
    answer: (text) => ({ embedding: embed(text) }),
    quotaUsedIn: (seconds) => requests.usedIn(seconds),
  });
}

/** A feature-hashed bag of words, scaled to length 1: cheap, but near for texts that share words. */
function embed(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const place = Math.floor(shareOf(word) * DIMENSIONS);
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
