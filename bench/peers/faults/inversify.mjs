import "reflect-metadata";
import { Container } from "inversify";
import adapter from "../containers/inversify.mjs";

export function chain(names, close) {
  const container = new Container();
  for (const [index, name] of names.entries()) {
    container
      .bind(name)
      .toDynamicValue(({ get }) => ({ name, needs: index > 0 ? get(names[index - 1]) : undefined }))
      .inSingletonScope()
      .onDeactivation(() => close(name));
  }
  container.get(names.at(-1));
  return { dispose: () => container.unbindAllAsync() };
}

export const lazy = adapter.asyncValue;
