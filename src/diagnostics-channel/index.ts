// What a program gets from `tidegate/diagnostics-channel`: names only.
export { publishEvents } from "./publish-events.js";
