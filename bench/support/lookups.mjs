/**
 * Makes the adapter's `lookUp` for a library whose scope is entered by a function and whose lookup is a plain call.
 *
 * @param {() => { n: number }} get Finds the value.
 * @param {(body: () => unknown) => unknown} [run] Calls `body` in the scope. A container that is at hand needs none.
 */
export function lookUpIn(get, run = (body) => body()) {
  return (count, afterAwait) => {
    const lookups = () => {
      let sum = 0;
      for (let index = 0; index < count; index += 1) sum += get().n;
      return sum;
    };
    if (!afterAwait) return run(lookups);
    return run(async () => {
      await Promise.resolve();
      return lookups();
    });
  };
}
