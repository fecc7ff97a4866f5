// What a program gets from `tidegate/fetch`: names only.
export type { Answer } from "./answer.js";
export { limitFetch } from "./limit-fetch.js";
export type {
  FeedbackOptions,
  FetchLike,
  FetchLimiter,
  LimitFetchOptions,
  PausableLimiter,
  RetryOptions,
} from "./options.js";
export type { FetchInput, OutgoingRequest } from "./outgoing.js";
