// What a program gets from `tidegate`: names only. A name that is in no entry file is private.
export {
  bindContext,
  ContextKey,
  tryUseContext,
  useContext,
  withContext,
  withExceptionHandler,
} from "./context/index.js";
export { MissingContextError, NoEnvironmentError } from "./context/index.js";
export type { ContextKeyOptions, ExceptionHandler, ExceptionInfo, MountStep } from "./context/index.js";

export {
  composeLifespans,
  defaultEnvironment,
  Environment,
  lifespan,
  start,
  stop,
} from "./lifespan/index.js";
export { DuplicateProvideError, EnvironmentStateError, LifespanError } from "./lifespan/index.js";
export type {
  EnvironmentBuilder,
  EnvironmentOptions,
  EnvironmentState,
  Lifespan,
  ValueDescription,
} from "./lifespan/index.js";

export { KeyedRateLimiter, observeLimiters, perHour, perMinute } from "./rate-limit/index.js";
export { RateBudget, RateLimiter } from "./rate-limit/index.js";
export {
  KeyLimitError,
  LimiterClosedError,
  PermitUsedError,
  QueueFullError,
  WaitTooLongError,
} from "./rate-limit/index.js";
export type {
  AcquireOptions,
  AnyBudget,
  BucketOptions,
  BucketStats,
  Budget,
  CostAt,
  DimensionStats,
  KeyedRateLimiterOptions,
  Limiter,
  LimiterEvent,
  LimiterObserver,
  LineOptions,
  LineStats,
  Permit,
  RateBudgetStats,
  RateLimiterOptions,
  RateLimiterStats,
  RateOptions,
} from "./rate-limit/index.js";

export {
  App,
  batched,
  checkCancellation,
  fn,
  map,
  mapStream,
  mount,
  mountEach,
  runMain,
  terminalProgress,
  useSignal,
  withTimeout,
} from "./pipeline/index.js";
export {
  BatchResultError,
  DeadlineExceededError,
  RetryWithSmallerBatch,
  RunAbortedError,
} from "./pipeline/index.js";
export type {
  AppOptions,
  BatchOptions,
  BatchRateLimit,
  CallCounts,
  CorrectableLimiter,
  FnNameOptions,
  FnOptions,
  FnRateLimit,
  FunctionStats,
  MapOptions,
  MapStreamOptions,
  MountHandle,
  MountStats,
  ProgressReport,
  ProgressReporter,
  ProgressStream,
  ProvidedLimiter,
  RunHandle,
  RunOptions,
  RunOutcome,
  RunSnapshot,
  RunStats,
  TerminalProgressOptions,
} from "./pipeline/index.js";

export { InvalidArgumentError, isTidegateError, TidegateError } from "./errors.js";
export type { ErrorCode } from "./errors.js";
export type { Clock } from "./clock.js";
