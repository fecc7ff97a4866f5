import { InvalidArgumentError } from "../errors.js";
import {
  requireCount,
  requireFinite,
  requireFunction,
  requireObject,
  requireOptions,
} from "../internal/checks.js";
import type { AnyBudget, CostAt, Limiter } from "../rate-limit/index.js";
import type { FetchInput, OutgoingRequest } from "./outgoing.js";
import type { Answer } from "./answer.js";

/** The part of `fetch` that is needed of one. */
export type FetchLike = (input: FetchInput, init?: RequestInit) => Promise<Response>;

/** A limiter that can be told to grant nothing for a while, as RateLimiter does. */
export interface PausableLimiter extends Limiter {
  /** Grants nothing for `ms` milliseconds; a longer pause that runs already stands. */
  pause(ms: number): unknown;
}

/** What `limitFetch` draws from. */
export type FetchLimiter = PausableLimiter | AnyBudget;

/** When a refused request is sent again. */
export interface RetryOptions {
  /** How often at most: an integer from 0 up. Default 2. */
  readonly retries?: number | undefined;
  /** Which statuses of an answer are refusals, integers from 400 to 599. Default 429 and 503. */
  readonly statuses?: readonly number[] | undefined;
  /**
   * Which methods may be sent again. Default: those that can be sent twice without harm, GET, HEAD,
   * OPTIONS, PUT and DELETE. Add POST where a refused request has done nothing, as at most APIs of models.
   */
  readonly methods?: readonly string[] | undefined;
  /**
   * Where a refusal does not say how long to wait: the wait is random, up to this at first and up to twice as much
   * with each refusal in a row. In milliseconds, finite, from 0 up. Default 500.
   */
  readonly backoffMs?: number | undefined;
}

/** What a refusal does to all callers of the limiter. */
export interface FeedbackOptions {
  /**
   * The longest pause that one refusal can cause, and the longest wait of a call alone before it is sent again, in
   * milliseconds, finite, from 0 up. Default 60,000.
   */
  readonly maxPauseMs?: number | undefined;
  /**
   * Whether a refusal is about the whole budget, and not about this one request (a model that does not exist). Only
   * then are the other callers held up. Default: it is, also when this throws, which gives a warning.
   */
  readonly isShared?: ((answer: Answer) => boolean | PromiseLike<boolean>) | undefined;
}

/** Options of `limitFetch`. */
export interface LimitFetchOptions<L extends FetchLimiter> {
  /** What sends the requests. Default: the global `fetch`, looked up at each call. */
  readonly fetch?: FetchLike | undefined;
  /**
   * What a request costs: tokens, an integer from 0 up; at a budget a record of them. Default: 1 token; a budget needs
   * to be told.
   */
  readonly cost?: CostAt<L> | ((request: OutgoingRequest) => CostAt<L> | PromiseLike<CostAt<L>>) | undefined;
  /**
   * What it has cost in fact, from an answer with a status from 200 to 299. Undefined keeps the estimate, as does an
   * answer that is a stream of events or of lines of JSON, for which this is not called. The answer is handed on when
   * this is done; when it throws the estimate stands, with a warning.
   */
  readonly settle?:
    | ((
        answer: Answer,
        request: OutgoingRequest,
      ) => CostAt<L> | undefined | PromiseLike<CostAt<L> | undefined>)
    | undefined;
  /** When a refused request is sent again: a number is `{ retries }`, false is never. */
  readonly retry?: RetryOptions | number | false | undefined;
  /** What a refusal does to all callers of the limiter; false is nothing. */
  readonly feedback?: FeedbackOptions | false | undefined;
}

/** The options, checked and complete. */
export interface FetchRules {
  readonly fetch: FetchLike;
  readonly cost: (request: OutgoingRequest) => unknown;
  readonly settle: ((answer: Answer, request: OutgoingRequest) => unknown) | undefined;
  readonly retries: number;
  readonly statuses: ReadonlySet<number>;
  readonly methods: ReadonlySet<string>;
  readonly backoffMs: number;
  readonly maxPauseMs: number;
  /** Undefined when a refusal is to hold up nobody else. */
  readonly isShared: FeedbackOptions["isShared"];
}

const REPEATABLE = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"];

/** Checks everything before anything is sent. */
export function resolveFetchOptions<L extends FetchLimiter>(given: LimitFetchOptions<L>): FetchRules {
  const options = requireObject("options", given);
  const { cost = 1, settle } = options;
  const retry = retryOptions(options.retry);
  const { retries = 2, statuses = [429, 503], methods = REPEATABLE, backoffMs = 500 } = retry;
  const feedback =
    options.feedback === false ? undefined : (requireOptions("feedback", options.feedback) ?? {});
  return {
    fetch: options.fetch === undefined ? globalFetch : requireFunction("fetch", options.fetch),
    cost: costOf(cost),
    settle: settle === undefined ? undefined : requireFunction("settle", settle),
    retries: requireCount("retry.retries", retries),
    statuses: new Set(requireList("retry.statuses", statuses, "integers from 400 to 599", isErrorStatus)),
    methods: new Set(
      requireList("retry.methods", methods, "names of methods", isText).map((method) => method.toUpperCase()),
    ),
    backoffMs: requireFinite("retry.backoffMs", backoffMs, 0, "milliseconds"),
    maxPauseMs: requireFinite("feedback.maxPauseMs", feedback?.maxPauseMs ?? 60_000, 0, "milliseconds"),
    isShared: feedback && requireFunction("feedback.isShared", feedback.isShared ?? (() => true)),
  };
}

function costOf(cost: unknown): FetchRules["cost"] {
  if (typeof cost === "function") return cost as FetchRules["cost"];
  const isRecord = typeof cost === "object" && cost !== null;
  if (!isRecord) requireCount("cost", cost, ", a record of them, or a function");
  return () => cost;
}

function retryOptions(retry: LimitFetchOptions<FetchLimiter>["retry"]): RetryOptions {
  if (retry === false) return { retries: 0 };
  return typeof retry === "number" ? { retries: retry } : (requireOptions("retry", retry) ?? {});
}

// Looked up at each call, so that one that was replaced for a test is the one that is called.
const globalFetch: FetchLike = (input, init) => globalThis.fetch(input, init);

function requireList<T>(
  option: string,
  list: readonly T[],
  what: string,
  fits: (member: unknown) => boolean,
): readonly T[] {
  if (Array.isArray(list) && list.every(fits)) return list as readonly T[];
  throw new InvalidArgumentError(option, `an array of ${what}`, list);
}

function isErrorStatus(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 400 && (value as number) <= 599;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
