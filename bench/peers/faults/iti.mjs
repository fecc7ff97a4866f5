import { createContainer } from "iti";
import adapter from "../containers/iti.mjs";

export function chain(names, close) {
  let container = createContainer();
  for (const [index, name] of names.entries()) {
    container = container
      .add((items) => ({ [name]: () => ({ name, needs: index > 0 ? items[names[index - 1]] : undefined }) }))
      .addDisposer({ [name]: () => close(name) });
  }
  container.get(names.at(-1));
  return { dispose: () => container.disposeAll() };
}

export const lazy = adapter.asyncValue;
