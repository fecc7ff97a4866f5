/** The name of a function; empty when it has none. A class may have a "name" of its own, which is no text then. */
export function nameOf(f: object): string {
  const { name } = f as { readonly name?: unknown };
  return typeof name === "string" ? name : "";
}
