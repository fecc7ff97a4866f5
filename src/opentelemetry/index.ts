// What a program gets from `tidegate/opentelemetry`: names only.
export { instrument } from "./instrument.js";
export type { InstrumentOptions } from "./options.js";
export type { MeasuredLimiter } from "./token-gauge.js";
