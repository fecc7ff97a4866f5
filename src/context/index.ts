export { bindGenerator, EAGER, enterFrame, isGenerator, keepInside } from "./enter.js";
export { MissingContextError, NoEnvironmentError } from "./errors.js";
export { deriveFrame } from "./frame.js";
export type { Frame, ValueSlot, ValueSource } from "./frame.js";
export { ContextKey, requireKey } from "./key.js";
export type { AnyContextKey, ContextKeyOptions } from "./key.js";
export { currentFrame, runInFrame } from "./storage.js";
export { tryUseContext, useContext } from "./use-context.js";
export { bindContext, withContext } from "./with-context.js";
