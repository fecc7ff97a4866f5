import { ContextKey, Environment } from "tidegate";

export async function chain(names, close) {
  const environment = new Environment({
    *lifespan(builder) {
      for (const name of names) builder.provide(new ContextKey(name), { name }, () => close(name));
      yield;
    },
  });
  await environment.start();
  return { dispose: () => environment.stop() };
}

export async function lazy(make) {
  const key = new ContextKey("value");
  const environment = new Environment({
    *lifespan(builder) {
      builder.provideLazy(key, make);
      yield;
    },
  });
  await environment.start();
  return () => environment.get(key);
}

/**
 * An environment of its own with a lifespan that goes wrong.
 *
 * @param {Function} lifespan Gets `open(name, close)`, which opens a resource that the environment owns.
 */
export function failing(lifespan) {
  const named = {
    [lifespan.name]: (builder) =>
      lifespan((name, close) =>
        builder.provideWith(new ContextKey(name), { [Symbol.asyncDispose]: async () => close() }),
      ),
  }[lifespan.name];
  return new Environment({ lifespan: named });
}
