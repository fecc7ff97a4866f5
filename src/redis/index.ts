// What a program gets from `tidegate/redis`: names only.
export type { RedisClient, SendCommand } from "./client.js";
export { StoreUnavailableError } from "./errors.js";
export type { RedisRateLimiterOptions } from "./options.js";
export { RedisRateLimiter } from "./redis-rate-limiter.js";
export type { RedisRateLimiterStats } from "./redis-rate-limiter.js";
