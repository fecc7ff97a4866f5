import { MissingContextError, NoEnvironmentError } from "./errors.js";
import type { Frame, ValueSlot } from "./frame.js";
import type { AnyContextKey, ContextKey } from "./key.js";
import { requireKey } from "./key.js";
import { currentFrame } from "./storage.js";

/**
 * The value of `key` for the calling code: the nearest `withContext`, else what the environment provides, else the
 * key's default.
 *
 * @throws MissingContextError (`CONTEXT_MISSING`) when nothing is provided and the key has no default.
 * @throws NoEnvironmentError (`ENVIRONMENT_MISSING`) the same, outside every environment.
 * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the environment of the calling code has stopped.
 */
export function useContext<T>(key: ContextKey<T>): T {
  const frame = currentFrame();
  const slot = slotOf(frame, key);
  return (slot === undefined ? valueWithoutSlot(frame, key, true) : slot.read()) as T;
}

/**
 * Like {@link useContext}, but undefined where nothing is provided and the key has no default, and outside every
 * environment.
 *
 * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the environment of the calling code has stopped.
 */
export function tryUseContext<T>(key: ContextKey<T>): T | undefined {
  const frame = currentFrame();
  const slot = slotOf(frame, key);
  return (slot === undefined ? valueWithoutSlot(frame, key, false) : slot.read()) as T | undefined;
}

/** What the environment provides, unless there is a nearer value. Small, so that it costs no call of its own. */
function slotOf(frame: Frame | undefined, key: AnyContextKey): ValueSlot | undefined {
  return frame?.overrides?.has(key) === true ? undefined : frame?.source?.find(key);
}

function valueWithoutSlot(frame: Frame | undefined, key: AnyContextKey, required: boolean): unknown {
  if (frame?.overrides?.has(key) === true) return frame.overrides.get(key);
  const { defaultValue } = requireKey(key);
  if (defaultValue !== undefined) return defaultValue();
  if (!required) return undefined;
  throw frame?.source === undefined
    ? new NoEnvironmentError(`Context key "${key.name}" was asked for outside every environment.`, key.name)
    : new MissingContextError(key, frame.source);
}
