/** Tells the developer something that is no error: through `process.emitWarning` where it exists, else the console. */
export function warn(message: string, code: string): void {
  const host = (globalThis as { process?: { emitWarning?: typeof process.emitWarning } }).process;
  if (typeof host?.emitWarning === "function") host.emitWarning(message, { type: "TidegateWarning", code });
  else console.warn(`TidegateWarning [${code}]: ${message}`);
}
