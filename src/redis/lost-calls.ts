/** What a client of ioredis or iovalkey tells of its connection. */
interface Connected {
  readonly status?: unknown;
  readonly on?: (event: "close", listener: () => void) => unknown;
}

/** Of each client the calls on its connection: one listener for all of them, however many limiters use it. */
const onTheWay = new WeakMap<object, Set<() => void>>();

/**
 * Makes a call that fails when its connection is lost before the answer. Clients that are told not to send again leave such
 * a call without an end, and the store would count as silent long after it is back. A call made while there is no
 * connection waits with the client for one, and is not lost with it.
 */
export function failWithConnection(client: object, call: () => Promise<unknown>): Promise<unknown> {
  const { status, on } = client as Connected;
  if (status !== "ready" || typeof on !== "function") return call();
  let calls = onTheWay.get(client);
  if (calls === undefined) {
    const made = (calls = new Set());
    onTheWay.set(client, made);
    on.call(client, "close", () => {
      for (const fail of made) fail();
    });
  }
  return endedBy(calls, call);
}

function endedBy(calls: Set<() => void>, call: () => Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const answered = call();
    const fail = (): void => {
      calls.delete(fail);
      reject(new Error("The connection was lost before the answer came."));
    };
    calls.add(fail);
    const end = (): void => {
      calls.delete(fail);
      resolve(answered);
    };
    answered.then(end, end);
  });
}
