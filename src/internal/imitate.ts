/** Gives a wrapper the name and length of what it wraps, for stack traces and for code that looks at them. */
export function imitate<F extends (...args: never[]) => unknown>(
  wrapper: F,
  wrapped: F,
  name = wrapped.name,
): F {
  return Object.defineProperties(wrapper, {
    name: { value: name, configurable: true },
    length: { value: wrapped.length, configurable: true },
  });
}
