import { registry } from "./registry.js";

/** The slots of the registry in which several can be at once. */
type SlotName = "limiterObserver" | "callTracer";

interface Slot<T> {
  /** A place for each time somebody came; the same member may come twice. */
  readonly places: readonly { readonly member: T }[];
  readonly together: T;
}

/**
 * Puts `member` into a slot of the registry, beside those that are there, of other copies of the package too.
 *
 * @param join - Makes one of several.
 * @returns Takes the member out again. Calling it twice does nothing.
 */
export function enterSlot<T>(name: SlotName, member: T, join: (members: readonly T[]) => T): () => void {
  const shared = registry();
  const places = (): Slot<T>["places"] => (shared[name] as Slot<T> | undefined)?.places ?? [];
  const fill = (places: Slot<T>["places"]): void => {
    shared[name] =
      places.length === 0 ? undefined : { places, together: join(places.map(({ member }) => member)) };
  };
  const own = { member };
  fill([...places(), own]);
  return () => {
    fill(places().filter((place) => place !== own));
  };
}

/** All who are in a slot, as one; undefined while nobody is. */
export function inSlot(name: SlotName): unknown {
  return (registry()[name] as Slot<unknown> | undefined)?.together;
}
