import type { AmbientScope } from "../../src/cancellation/index.js";
import { registry } from "../../src/internal/registry.js";

/** Calls `body` as code that runs in `scope` would be called. Context does this for whole call trees. */
export function inScope<R>(scope: AmbientScope | undefined, body: () => R): R {
  const shared = registry();
  const before = shared.ambientScope;
  shared.ambientScope = () => scope;
  try {
    return body();
  } finally {
    shared.ambientScope = before;
  }
}
