// What a program gets from `tidegate/rate-limit`: names only.
export type { Clock } from "../clock.js";
export { InvalidArgumentError, isTidegateError, TidegateError } from "../errors.js";
export type { ErrorCode } from "../errors.js";
export { LimiterClosedError, QueueFullError, WaitTooLongError } from "./errors.js";
export type { AcquireOptions, Limiter } from "./limiter.js";
export { observeLimiters } from "./observer.js";
export type { LimiterEvent, LimiterObserver } from "./observer.js";
export { RateLimiter } from "./rate-limiter.js";
export type { RateLimiterStats } from "./rate-limiter.js";
export type { RateLimiterOptions } from "./rate-limiter-options.js";
export { perHour, perMinute } from "./rates.js";
export type { RateOptions } from "./shape.js";
