// What a program gets from `tidegate/rate-limit`: names only.
export type { Clock } from "../clock.js";
export { InvalidArgumentError, isTidegateError, TidegateError } from "../errors.js";
export type { ErrorCode } from "../errors.js";
export type { BucketOptions, RateOptions } from "./bucket/rated-bucket.js";
export {
  KeyLimitError,
  LimiterClosedError,
  PermitUsedError,
  QueueFullError,
  WaitTooLongError,
} from "./errors.js";
export { KeyedRateLimiter } from "./keyed-rate-limiter.js";
export type { KeyedRateLimiterOptions } from "./keyed-rate-limiter.js";
export type { AcquireOptions, Budget, Limiter } from "./limiter.js";
export type { LineOptions } from "./line-options.js";
export { observeLimiters } from "../internal/limiter-observer.js";
export type { LimiterEvent, LimiterObserver } from "../internal/limiter-observer.js";
export type { BucketStats, DimensionStats, LineStats } from "../internal/limiter-report.js";
export type { Permit } from "./permit.js";
export { RateBudget } from "./rate-budget.js";
export type { AnyBudget, CostAt, RateBudgetStats } from "./rate-budget.js";
export { RateLimiter } from "./rate-limiter.js";
export type { RateLimiterOptions, RateLimiterStats } from "./rate-limiter.js";
export { perHour, perMinute } from "./rates.js";
