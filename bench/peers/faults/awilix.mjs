import { asFunction, createContainer } from "awilix";

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

export function lazy(make) {
  const container = createContainer();
  container.register({ value: asFunction(make).singleton() });
  return () => container.resolve("value");
}
