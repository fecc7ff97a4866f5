import { asFunction, createContainer } from "awilix";
import adapter from "../containers/awilix.mjs";

export function chain(names, close) {
  const container = createContainer();
  for (const [index, name] of names.entries()) {
    const make = (cradle) => ({ name, needs: index > 0 ? cradle[names[index - 1]] : undefined });
    container.register({
      [name]: asFunction(make)
        .singleton()
        .disposer(() => close(name)),
    });
  }
  container.resolve(names.at(-1));
  return { dispose: () => container.dispose() };
}

export const lazy = adapter.asyncValue;
