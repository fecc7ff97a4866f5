import type { Attributes, Counter, Histogram, Meter, UpDownCounter } from "@opentelemetry/api";
import type { LimiterObserver } from "../internal/limiter-observer.js";
import { errorTypeOf, type Outcome, outcomeOf } from "./outcome.js";

/** The bounds of the buckets for waits, in seconds: waits are short in front of a burst and minutes behind a quota. */
const WAIT_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** The event of a request for tokens. */
interface RequestEvent {
  readonly limiter: string;
  readonly call: object | undefined;
  /** In milliseconds. */
  readonly waitedMs: number;
}

/** The attributes that say how a request has ended. */
interface Ending extends Attributes {
  readonly result: Outcome;
  readonly "error.type"?: string;
}

/** Counts what the limiters tell. */
export class LimiterMetrics implements Required<LimiterObserver> {
  readonly #requests: Counter;
  readonly #queued: UpDownCounter;
  readonly #timeInQueue: Histogram;
  readonly #pauses: Counter;
  readonly #storeChanges: Counter;
  readonly #retries: Counter;
  /** The callers that were seen joining and still wait, with the name of their limiter. */
  readonly #waiting = new Map<object, string>();

  constructor(meter: Meter) {
    this.#requests = meter.createCounter("tidegate.limiter.requests", {
      unit: "{request}",
      description: "Requests for tokens that have ended, by how.",
    });
    this.#queued = meter.createUpDownCounter("tidegate.limiter.queued_requests", {
      unit: "{request}",
      description: "Requests for tokens that wait in line.",
    });
    this.#timeInQueue = meter.createHistogram("tidegate.limiter.request.time_in_queue", {
      unit: "s",
      description: "How long requests for tokens that came into the line have waited in it.",
      advice: { explicitBucketBoundaries: WAIT_BOUNDS },
    });
    this.#pauses = meter.createCounter("tidegate.limiter.pauses", {
      unit: "{pause}",
      description: "Times that a limiter was told to grant nothing for a while.",
    });
    this.#storeChanges = meter.createCounter("tidegate.limiter.store_changes", {
      unit: "{change}",
      description: "Times that the store of a limiter was lost, or found again.",
    });
    this.#retries = meter.createCounter("tidegate.limiter.retries", {
      unit: "{retry}",
      description: "Refused HTTP requests that are sent again.",
    });
  }

  waited({ limiter, call }: { readonly limiter: string; readonly call: object }): void {
    this.#waiting.set(call, limiter);
    this.#queued.add(1, named(limiter));
  }

  granted(event: RequestEvent): void {
    this.#ended(event, { result: "acquired" });
  }

  left(event: RequestEvent & { readonly reason: unknown }): void {
    this.#ended(event, failureOf(event.reason));
  }

  refused({ limiter, reason }: { readonly limiter: string; readonly reason: unknown }): void {
    this.#ended({ limiter, call: undefined, waitedMs: 0 }, failureOf(reason));
  }

  paused({ limiter }: { readonly limiter: string }): void {
    this.#pauses.add(1, named(limiter));
  }

  storeLost({ limiter }: { readonly limiter: string }): void {
    this.#storeChanges.add(1, { ...named(limiter), change: "lost" });
  }

  storeFound({ limiter }: { readonly limiter: string }): void {
    this.#storeChanges.add(1, { ...named(limiter), change: "found" });
  }

  retried({ limiter, status }: { readonly limiter: string; readonly status: number }): void {
    this.#retries.add(1, { ...named(limiter), "http.response.status_code": status });
  }

  /** Nobody will tell of those that still wait: without this they would wait in the metrics for ever. */
  end(): void {
    for (const limiter of this.#waiting.values()) this.#queued.add(-1, named(limiter));
  }

  #ended({ limiter, call, waitedMs }: RequestEvent, end: Ending): void {
    // First, and only for those seen joining: whatever fails below, the number in line stays right.
    if (call !== undefined && this.#waiting.delete(call)) {
      this.#queued.add(-1, named(limiter));
      this.#timeInQueue.record(waitedMs / 1_000, { ...named(limiter), result: end.result });
    }
    this.#requests.add(1, { ...named(limiter), ...end });
  }
}

function failureOf(reason: unknown): Ending {
  const type = errorTypeOf(reason);
  return { result: outcomeOf(type), "error.type": type };
}

function named(limiter: string): Attributes {
  return { "limiter.name": limiter };
}
