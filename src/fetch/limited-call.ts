import { limiterObserver } from "../internal/limiter-observer.js";
import { type Settle, takeTokens } from "../internal/take-tokens.js";
import { warn } from "../internal/warn.js";
import { answerOf } from "./answer.js";
import { fullJitter, waitAlone } from "./backoff.js";
import type { AnyLimiter } from "./limiter-of.js";
import type { FetchRules } from "./options.js";
import type { Outgoing } from "./outgoing.js";
import { type Pressure, pressureOf, type Turn } from "./pressure.js";
import { isFromCache, type Refusal, refusalOf } from "./refusal.js";

/** Answers that come bit by bit: whoever reads them to the end keeps the caller from them. */
const STREAM = /^(?:text\/event-stream|application\/(?:x-)?(?:ndjson|jsonl))\b/i;

/** One call of a limited fetch: its sendings, until one is answered or none may follow. */
export class LimitedCall {
  readonly #limiter: AnyLimiter;
  readonly #rules: FetchRules;
  readonly #outgoing: Outgoing;
  readonly #pressure: Pressure;
  /** The last sending of anybody when this call was refused last. */
  #refusedAt: Turn | undefined = undefined;

  constructor(limiter: AnyLimiter, rules: FetchRules, outgoing: Outgoing) {
    this.#limiter = limiter;
    this.#rules = rules;
    this.#outgoing = outgoing;
    this.#pressure = pressureOf(limiter);
  }

  async answer(): Promise<Response> {
    const { fetch, settle: settles } = this.#rules;
    const cost = await this.#rules.cost(this.#outgoing);
    const mayRepeat = this.#outgoing.canBeSentAgain && this.#rules.methods.has(this.#outgoing.method);
    const most = mayRepeat ? this.#rules.retries + 1 : 1;
    for (let attempt = 1; ; attempt += 1) {
      const { signal } = this.#outgoing;
      const settle = await takeTokens(this.#limiter, cost, settles !== undefined, "limiter", signal);
      const turn = this.#pressure.send();
      const response = await fetch(...this.#outgoing.arguments(attempt === most));
      const refusal = refusalOf(response, this.#rules);
      if (refusal === undefined) return await this.#accept(response, turn, settle);
      const waitMs = await this.#holdBack(refusal, turn, attempt, cost);
      if (attempt === most || refusal.isFinal) return response;
      await this.#prepareNext(response, waitMs, attempt);
    }
  }

  async #accept(response: Response, turn: Turn, settle: Settle): Promise<Response> {
    if (!response.ok) return response;
    if (!isFromCache(response)) this.#pressure.succeeded(turn);
    const isStream = STREAM.test(response.headers.get("content-type") ?? "");
    if (this.#rules.settle !== undefined && !isStream) await this.#settle(response, settle);
    return response;
  }

  async #settle(response: Response, settle: Settle): Promise<void> {
    try {
      const actual = await this.#rules.settle?.(answerOf(response), this.#outgoing);
      if (actual !== undefined) await settle(actual);
    } catch (error) {
      // The answer has come and has been paid for. An error in its place would make clients ask again.
      warn(
        `The settle of a limited fetch failed, so the estimate stands: ${String(error)}`,
        "TIDEGATE_SETTLE_FAILED",
      );
    }
  }

  /**
   * Holds back all who draw from the limiter, when the refusal is about them all.
   *
   * @returns Milliseconds that this call has to wait by itself; undefined when it waits in line with the others.
   */
  async #holdBack(refusal: Refusal, turn: Turn, attempt: number, cost: unknown): Promise<number | undefined> {
    // What draws nothing from the budget says nothing of it, and no pause of it would hold the next sending.
    const isShared = !isNothing(cost) && (await this.#isShared(refusal));
    this.#refusedAt = this.#pressure.now;
    const { maxPauseMs, backoffMs } = this.#rules;
    const { hintMs } = refusal;
    const waitMs = (row: number): number =>
      hintMs === undefined ? fullJitter(backoffMs, row, maxPauseMs) : Math.min(hintMs, maxPauseMs);
    if (!isShared) return waitMs(attempt - 1);
    // What was sent before the pause was refused for the same reason; only a server can know that it takes longer.
    if (hintMs === undefined && this.#pressure.isBeforePause(turn)) return undefined;
    await this.#limiter.pause?.(waitMs(this.#pressure.pause(turn)));
    return undefined;
  }

  async #isShared(refusal: Refusal): Promise<boolean> {
    if (this.#rules.isShared === undefined || refusal.isFinal || refusal.isFromCache) return false;
    // Refused again, while others were served: this is about the request, and not about the budget.
    if (this.#refusedAt !== undefined && this.#pressure.hasSucceededSince(this.#refusedAt)) return false;
    try {
      return await this.#rules.isShared(answerOf(refusal.response));
    } catch (error) {
      warn(
        `The isShared of a limited fetch failed, so the refusal holds all callers up: ${String(error)}`,
        "TIDEGATE_IS_SHARED_FAILED",
      );
      return true;
    }
  }

  async #prepareNext(response: Response, waitMs: number | undefined, attempt: number): Promise<void> {
    const limiter = this.#limiter.name ?? "limiter";
    limiterObserver()?.retried({ limiter, status: response.status, attempt });
    discard(response.body);
    if (waitMs !== undefined) await waitAlone(waitMs, limiter, this.#outgoing.signal);
  }
}

/** Else the connection is held until the body is collected. A body that fails has nothing more to say. */
function discard(body: Partial<ReadableStream> | null): void {
  // The fetch of other packages gives streams of Node.
  body?.cancel?.().catch(() => undefined);
}

function isNothing(cost: unknown): boolean {
  return cost === 0 || (typeof cost === "object" && Object.values(cost ?? {}).every((tokens) => !tokens));
}
