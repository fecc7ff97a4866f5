// What a program gets from `tidegate/redis`: names only.
export type { RedisClient, SendCommand } from "./client.js";
export { StoreUnavailableError } from "./errors.js";
export type { RedisRateBudgetOptions, RedisRateLimiterOptions, StoreOptions } from "./options.js";
export { RedisRateBudget } from "./redis-rate-budget.js";
export type { RedisRateBudgetStats } from "./redis-rate-budget.js";
export { RedisRateLimiter } from "./redis-rate-limiter.js";
export type { RedisRateLimiterStats } from "./redis-rate-limiter.js";
export type { SharedPermit } from "./shared-permit.js";
