export { ambientScope, timeLeftMs } from "./ambient.js";
export type { AmbientScope, Deadline, ScopeListener } from "./ambient.js";
export { followSignal } from "./follow-signal.js";
export { Scope } from "./scope.js";
