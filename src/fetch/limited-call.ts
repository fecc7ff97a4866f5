import { limiterObserver } from "../internal/limiter-observer.js";
import { type Settle, settleOrWarn, takeTokens } from "../internal/take-tokens.js";
import { warn } from "../internal/warn.js";
import { answerOf } from "./answer.js";
import { fullJitter, waitAlone } from "./backoff.js";
import type { AnyLimiter } from "./limiter-of.js";
import type { FetchRules } from "./options.js";
import type { Outgoing } from "./outgoing.js";
import { type Pressure, pressureOf, type Turn } from "./pressure.js";
import { isFromCache, type Refusal, refusalOf } from "./refusal.js";

/** Answers that come bit by bit: whoever reads them to the end keeps the caller from them. */
const STREAM = /^[^;]*(?:event-?stream|ndjson|jsonl|json-seq|stream\+json)/i;

/** One call of a limited fetch: its sendings, until one is answered or none may follow. */
export class LimitedCall {
  readonly #limiter: AnyLimiter;
  readonly #rules: FetchRules;
  readonly #outgoing: Outgoing;
  readonly #pressure: Pressure;
  /** The last sending of anybody when this call was refused last. */
  #refusedAt: Turn | undefined = undefined;
  #refusedWith = 0;

  constructor(limiter: AnyLimiter, rules: FetchRules, outgoing: Outgoing) {
    this.#limiter = limiter;
    this.#rules = rules;
    this.#outgoing = outgoing;
    this.#pressure = pressureOf(limiter);
  }

  async answer(): Promise<Response> {
    const { fetch, settle: settleOption } = this.#rules;
    const cost = await this.#rules.cost(this.#outgoing);
    const mayRepeat = this.#outgoing.canBeSentAgain && this.#rules.methods.has(this.#outgoing.method);
    const most = mayRepeat ? this.#rules.retries + 1 : 1;
    for (let attempt = 1; ; attempt += 1) {
      const { signal } = this.#outgoing;
      const settle = await takeTokens(this.#limiter, cost, settleOption !== undefined, "limiter", signal);
      if (attempt > 1) this.#tellRetry(attempt - 1);
      const turn = this.#pressure.send();
      const response = await fetch(...this.#outgoing.arguments(attempt === most));
      const refusal = refusalOf(response, this.#rules);
      if (refusal === undefined) return await this.#accept(response, turn, settle);
      const waitMs = await this.#holdBack(refusal, turn, attempt, cost);
      if (attempt === most || refusal.isFinal) return response;
      this.#refusedWith = response.status;
      discard(response.body);
      if (waitMs !== undefined) await waitAlone(waitMs, this.#name, signal);
    }
  }

  async #accept(response: Response, turn: Turn, settle: Settle): Promise<Response> {
    // Also what is not there or has not changed: the limiter has let it through.
    if (response.status < 500 && !isFromCache(response)) this.#pressure.succeeded(turn);
    if (!response.ok) return response;
    const isStream = STREAM.test(response.headers.get("content-type") ?? "");
    if (this.#rules.settle !== undefined && !isStream) await this.#settle(response, settle);
    return response;
  }

  #settle(response: Response, settle: Settle): Promise<void> {
    return settleOrWarn("a limited fetch", settle, () =>
      this.#rules.settle?.(answerOf(response), this.#outgoing),
    );
  }

  /**
   * Holds back all who draw from the limiter, when the refusal is about them all.
   *
   * @returns Milliseconds that this call has to wait by itself; undefined when it waits in line with the others.
   */
  async #holdBack(refusal: Refusal, turn: Turn, attempt: number, cost: unknown): Promise<number | undefined> {
    // What draws nothing from the budget says nothing of it, and no pause of it would hold the next sending.
    const isAlone = this.#pressure.refused(this, this.#refusedAt);
    this.#refusedAt = this.#pressure.now;
    const isShared = !isAlone && !isNothing(cost) && (await this.#isShared(refusal));
    const { maxPauseMs, backoffMs } = this.#rules;
    const { hintMs } = refusal;
    const waitMs = (row: number): number =>
      hintMs === undefined ? fullJitter(backoffMs, row, maxPauseMs) : Math.min(hintMs, maxPauseMs);
    if (!isShared) return waitMs(attempt - 1);
    // What was sent before the pause was refused for the same reason; only a server can know that it takes longer.
    if (hintMs === undefined && this.#pressure.isBeforePause(turn)) return undefined;
    return this.#pause(waitMs(this.#pressure.pause(turn)));
  }

  async #pause(ms: number): Promise<number | undefined> {
    try {
      await this.#limiter.pause(ms);
      return undefined;
    } catch (error) {
      // Whoever asked for the answer shall have it, also when the limiter cannot be reached.
      warn(
        `The pause of a limited fetch failed, so only one call waits: ${String(error)}`,
        "TIDEGATE_PAUSE_FAILED",
      );
      return ms;
    }
  }

  async #isShared(refusal: Refusal): Promise<boolean> {
    if (this.#rules.isShared === undefined || refusal.isFinal || refusal.isFromCache) return false;
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

  #tellRetry(attempt: number): void {
    limiterObserver()?.retried({ limiter: this.#name, status: this.#refusedWith, attempt });
  }

  get #name(): string {
    return this.#limiter.name ?? "limiter";
  }
}

/** Else the connection is held until the body is collected. A body that fails has nothing more to say. */
function discard(body: (Partial<ReadableStream> & { destroy?: () => void }) | null): void {
  body?.cancel?.().catch(() => undefined);
  body?.destroy?.(); // the fetch of other packages gives streams of Node
}

function isNothing(cost: unknown): boolean {
  return cost === 0 || (typeof cost === "object" && Object.values(cost ?? {}).every((tokens) => !tokens));
}
