import type { Scope, ScopeListener } from "../../cancellation/index.js";
import type { Run } from "../../lifespan/index.js";

/**
 * Watches what can end a fan-out from outside: its scope and, for a fan-out of main, the request that its run shall
 * stop. Both are announced in the async context of whoever ends them; `onChange` is called a turn later in that of the
 * code that made the watch.
 */
export class OutsideWatch implements ScopeListener {
  readonly #scope: Scope;
  readonly #takeBack: (() => void) | undefined;
  #onChange: (() => void) | undefined;
  #wake!: () => void;

  constructor(scope: Scope, mainRun: Run | undefined, onChange: () => void) {
    this.#scope = scope;
    this.#onChange = onChange;
    // Once is enough: after it nothing starts any more, so all that happens is that items end.
    void new Promise<void>((resolve) => {
      this.#wake = resolve;
    }).then(() => this.#onChange?.());
    scope.add(this);
    this.#takeBack = mainRun?.onStopRequest(this.#wake);
  }

  scopeEnded(): void {
    this.#wake();
  }

  stop(): void {
    this.#onChange = undefined;
    this.#scope.remove(this);
    this.#takeBack?.();
  }
}
