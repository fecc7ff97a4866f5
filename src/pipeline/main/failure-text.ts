import { describeValue } from "../../errors.js";

/** Errors in one text at most: a fan-out over thousands of items may gather thousands of them. */
const MOST = 50;

/**
 * A failure for people: name, code and message, where it was thrown, the errors that it gathers, and what it was caused
 * by. Of our own making because a console leaves out what is nested deeply. Cannot throw.
 */
export function failureText(failure: unknown): string {
  return [...linesOf(failure, "", "", { seen: new Set(), left: MOST })].join("\n");
}

/** The first line of that: name, code and the beginning of the message. */
export function failureLine(failure: unknown): string {
  return factsOf(failure).head.split("\n")[0] as string;
}

/** Whether `failure` is `reason`, or was caused by it. */
export function comesOf(failure: unknown, reason: unknown): boolean {
  let at = failure;
  for (let depth = 0; depth < MOST; depth += 1) {
    if (at === reason) return true;
    at = factsOf(at).cause;
    if (at === undefined) return false;
  }
  return false;
}

interface Progress {
  readonly seen: Set<object>;
  left: number;
}

function* linesOf(failure: unknown, label: string, indent: string, progress: Progress): Generator<string> {
  let at = failure;
  let before = label;
  do {
    if (progress.left === 0) {
      yield `${indent}${before}(and more)`;
      return;
    }
    progress.left -= 1;
    const { head, frames, errors, cause } = factsOf(at);
    const [first, ...others] = head.split("\n");
    const isKnown = typeof at === "object" && at !== null && progress.seen.has(at);
    yield `${indent}${before}${first as string}${isKnown ? " (see above)" : ""}`;
    if (isKnown) return;
    if (typeof at === "object" && at !== null) progress.seen.add(at);
    for (const line of [...others, ...frames]) yield indent + line;
    const count = String(errors.length);
    for (const [index, error] of errors.entries()) {
      if (progress.left === 0) {
        yield `${indent}  (and more)`;
        break;
      }
      yield* linesOf(error, `${String(index + 1)} of ${count}: `, `${indent}  `, progress);
    }
    at = cause;
    before = "caused by: ";
  } while (at !== undefined);
}

interface Facts {
  readonly head: string;
  readonly frames: readonly string[];
  readonly errors: readonly unknown[];
  readonly cause: unknown;
}

const PLAIN = { frames: [], errors: [], cause: undefined };

/** What can be told of anything that was thrown. An error of another realm is no `instanceof Error`. */
function factsOf(failure: unknown): Facts {
  try {
    if (typeof failure === "string") return { ...PLAIN, head: failure };
    const { name, message, code, stack, errors, cause } = (failure ?? {}) as Record<string, unknown>;
    if (typeof message !== "string") return { ...PLAIN, head: describeValue(failure) };
    const title = typeof name === "string" && name !== "" ? name : "Error";
    return {
      head: `${title}${typeof code === "string" ? ` [${code}]` : ""}: ${message}`,
      // Without the head of the stack, which was made before a subclass has set its name.
      frames: typeof stack === "string" ? stack.split("\n").filter((line) => /^\s+at /.test(line)) : [],
      errors: Array.isArray(errors) ? (errors as unknown[]) : [],
      cause,
    };
  } catch {
    return { ...PLAIN, head: describeValue(failure) }; // a proxy that is revoked, a getter that throws
  }
}
