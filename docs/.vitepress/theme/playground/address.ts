import { fromQuery, type Settings, toQuery } from "./settings.js";

/** Keeps settings in the query of the address. Changes of one control in a row are one step of the history. */
export class Address {
  #last: string | undefined = undefined;

  read(): Settings {
    return fromQuery(location.search);
  }

  /** @param control - What was changed. */
  write(settings: Settings, control: string): void {
    const to = location.pathname + toQuery(settings);
    // VitePress takes an entry without a state for none of its own, and does not show its page again.
    const state = { scrollPosition: scrollY };
    if (control === this.#last) history.replaceState(state, "", to);
    else history.pushState(state, "", to);
    this.#last = control;
  }

  /** Calls `back` with the settings of each entry of the history that is gone to. Returns what ends that. */
  follow(back: (settings: Settings) => void): () => void {
    const listener = (): void => {
      this.#last = undefined;
      back(this.read());
    };
    addEventListener("popstate", listener);
    return () => {
      removeEventListener("popstate", listener);
    };
  }
}
