import { Context, Effect, Layer, ManagedRuntime } from "effect";

export default {
  name: "effect",
  entry: import.meta.resolve("effect"),
  program: `export { Context, Effect, Layer, ManagedRuntime } from "effect";`,
  uses: "`ManagedRuntime` of a `Layer`, `yield* Tag` inside `Effect.gen`",
  open(value) {
    const tag = Context.Service("bench/value");
    const runtime = ManagedRuntime.make(Layer.succeed(tag, value));
    const lookUp = (count, afterAwait) =>
      runtime.runPromise(
        Effect.gen(function* () {
          if (afterAwait) yield* Effect.promise(() => Promise.resolve());
          let sum = 0;
          for (let index = 0; index < count; index += 1) sum += (yield* tag).n;
          return sum;
        }),
      );
    return { lookUp };
  },
  async startAndStop(resources) {
    let layer = Layer.empty;
    let before = Effect.succeed(undefined);
    for (const { name, open, close } of resources) {
      const tag = Context.Service(`bench/${name}`);
      const build = Effect.acquireRelease(Effect.map(before, open), (value) =>
        Effect.sync(() => close(value)),
      );
      layer = Layer.effect(tag, build).pipe(Layer.provideMerge(layer));
      before = tag;
    }
    const runtime = ManagedRuntime.make(layer);
    await runtime.context();
    await runtime.dispose();
  },
  asyncValue(build) {
    const tag = Context.Service("bench/value");
    const runtime = ManagedRuntime.make(Layer.effect(tag, Effect.tryPromise(build)));
    return () => runtime.runPromise(tag);
  },
  cannot: {},
};
