import "reflect-metadata";
import { container, Lifecycle } from "tsyringe";

export function chain(names, close) {
  for (const [index, name] of names.entries()) {
    const Resource = class {
      needs = index > 0 ? container.resolve(names[index - 1]) : undefined;

      dispose() {
        return close(name);
      }
    };
    container.register(name, { useClass: Resource }, { lifecycle: Lifecycle.Singleton });
  }
  container.resolve(names.at(-1));
  return { dispose: () => container.dispose() };
}
