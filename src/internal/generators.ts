export type AnyGenerator = Generator<unknown, unknown, unknown> | AsyncGenerator<unknown, unknown, unknown>;

/** Generators, not iterators in general: only a generator has a body that runs in the frame of who steps it. */
export function isGenerator(value: unknown): value is AnyGenerator {
  if (typeof value !== "object" || value === null) return false;
  const tag = Object.prototype.toString.call(value);
  return tag === "[object Generator]" || tag === "[object AsyncGenerator]";
}

/** A generator that takes every step of `generator` through `around`, which calls it. */
export function wrapSteps(generator: AnyGenerator, around: (step: () => unknown) => unknown): AnyGenerator {
  const wrapped = Object.create(generator) as AnyGenerator;
  for (const name of ["next", "return", "throw"] as const) {
    const take = generator[name].bind(generator) as (value: unknown) => unknown;
    Object.defineProperty(wrapped, name, {
      value: (...values: [unknown]) => around(() => take(...values)),
    });
  }
  return wrapped;
}
