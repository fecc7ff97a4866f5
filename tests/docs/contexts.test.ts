import { EventEmitter } from "node:events";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  App,
  batched,
  bindContext,
  ContextKey,
  Environment,
  fn,
  map,
  mapStream,
  mount,
  mountEach,
  observeLimiters,
  RateLimiter,
  useContext,
  useSignal,
  withContext,
  withExceptionHandler,
} from "tidegate";
import { limitFetch } from "tidegate/fetch";
import { ManualClock } from "tidegate/testing";
import { gate } from "../support/gate.js";
import { readDocument } from "../support/samples-documents.js";

/** Whose context some code sees. */
const WHO = new ContextKey<string>("who");
const LIMITER = new ContextKey<RateLimiter>("limiter");
const LAZY = new ContextKey<string>("lazy");
const who = (): string => useContext(WHO);

const clock = new ManualClock();
const closed: string[] = [];
const environment = new Environment({
  name: "contexts",
  clock,
  lifespan: async function* (builder) {
    builder.provide(WHO, "the environment");
    await Promise.resolve();
    closed.push(who());
    builder.provide(LIMITER, new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock }));
    builder.provideLazy(LAZY, who);
    yield;
    closed.push(who());
  },
});
beforeAll(() => environment.start());
afterAll(() => environment.stop());

/** Calls `body` in the environment as somebody. */
function as<R>(name: string, body: () => R): R {
  return environment.run(() => withContext(WHO, name, body));
}
const asCaller = <R>(body: () => R): R => as("the caller", body);
const asOther = <R>(body: () => R): R => as("another", body);

/** Each row of the table, with what makes it happen: what the code there sees. */
const SITUATIONS: Readonly<Record<string, () => unknown>> = {
  "A function called, a promise continued, a timer set": () =>
    asCaller(async () => {
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      return who();
    }),
  "Everything in `app.run()` and `environment.run()`": () =>
    withContext(WHO, "the caller", () => new App({ name: "app", environment }, who).run()),
  "An item of `map`, and the source it is read from": async () => {
    const seen = new Set<string>();
    function* source(): Generator<number> {
      for (let n = 0; n < 3; n += 1) {
        seen.add(who());
        yield n;
      }
    }
    await asCaller(() => map(() => seen.add(who()), source(), { concurrency: 1 }));
    return [...seen].join();
  },
  "An item of `mapStream`, and its source, whoever takes the results": async () => {
    const stream = asCaller(() =>
      mapStream(
        who,
        (function* () {
          yield who();
        })(),
      ),
    );
    return asOther(async () => {
      const { value } = await stream.next();
      await stream.return();
      return value;
    });
  },
  "The loop over a `mapStream`": async () => {
    const stream = asOther(() => mapStream((n: number) => n, [1]));
    return asCaller(async () => {
      for await (const _ of stream) return who();
      return undefined;
    });
  },
  "An item of `mountEach`, and its source": async () => {
    const seen = new Set<string>();
    await asCaller(() =>
      mountEach(
        () => seen.add(who()),
        (function* (): Generator<readonly [number, number]> {
          seen.add(who());
          yield [1, 1];
        })(),
      ),
    );
    return [...seen].join();
  },
  "An exception handler, of the failed item": async () => {
    let seen: string | undefined;
    await asOther(() =>
      withExceptionHandler(
        () => void (seen = who()),
        () =>
          withContext(WHO, "the caller", async () => {
            const handle = await mount(() => Promise.reject(new Error("failed")));
            await handle.ready();
          }),
      ),
    );
    return seen;
  },
  "A method of a progress reporter": async () => {
    const seen = new Set<string>();
    const note = (): void => void seen.add(who());
    const progress = { start: note, update: note, stop: note };
    const app = new App({ name: "app", environment }, () => withContext(WHO, "another", () => fn(who)()));
    await asCaller(() => app.run({ progress }));
    return [...seen].join();
  },
  "The loop over `handle.watch()`": async () => {
    const handle = asOther(() => new App({ name: "app", environment }, () => 1).run());
    return asCaller(async () => {
      for await (const _ of handle.watch()) return who();
      return undefined;
    });
  },
  "A call that waited for a slot, whoever gave it up": async () => {
    const door = gate();
    const alone = fn({ concurrency: 1 }, async (wait: Promise<void>) => {
      await wait;
      return who();
    });
    const first = asOther(() => alone(door.promise));
    const second = asCaller(() => alone(Promise.resolve()));
    asOther(door.open);
    await first;
    return second;
  },
  "A call that waited for tokens, and its `cost` and `settle`": async () => {
    const seen = new Set<string>();
    const limiter = environment.get(LIMITER);
    const call = fn(
      {
        rateLimit: {
          key: LIMITER,
          cost: () => {
            seen.add(who());
            return 1;
          },
          settle: () => {
            seen.add(who());
            return 1;
          },
        },
      },
      () => {
        seen.add(who());
        return Promise.resolve();
      },
    );
    const waiting = asCaller(call);
    asOther(() => {
      limiter.refund(1);
    });
    await waiting;
    return [...seen].join();
  },
  "The caller of a `batched` function, when its result comes": async () => {
    const same = batched({ maxBatchSize: 2 }, (items: number[]) => Promise.resolve(items));
    const mine = asCaller(async () => {
      await same(1);
      return who();
    });
    await asOther(() => same(2));
    return mine;
  },
  "The body of a `batched` function": () =>
    asCaller(() => batched({ maxBatchSize: 1 }, (items: number[]) => Promise.resolve(items.map(who)))(1)),
  "A `fetch` that `limitFetch` sends again": async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 10, clock });
    const seen = new Set<string>();
    const refusing = (): Promise<Response> => {
      seen.add(who());
      return Promise.resolve(new Response(null, { status: seen.size === 1 ? 429 : 200 }));
    };
    const limited = limitFetch(limiter, { fetch: refusing, retry: { retries: 1, backoffMs: 1 } });
    const answer = asCaller(() => limited("https://service.test/"));
    await clock.advance(60_000);
    await answer;
    return [...seen].join();
  },
  "The steps of a generator that `fn` returned, whoever takes them": () => {
    const steps = asCaller(() =>
      fn(function* () {
        yield who();
      })(),
    );
    return asOther(() => [...steps].join());
  },
  "A listener on the signal of `useSignal()`": async () => {
    let seen: string | undefined;
    const app = new App({ name: "app", environment }, async () => {
      const signal = useSignal();
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          seen = who();
          resolve();
        });
      });
    });
    const handle = withContext(WHO, "the caller", () => app.run());
    await Promise.resolve();
    asOther(() => {
      handle.abort("over");
    });
    await handle.result().catch(() => undefined);
    return seen;
  },
  "A listener bound with `bindContext`": () => {
    const emitter = new EventEmitter();
    let seen: string | undefined;
    asCaller(() =>
      emitter.on(
        "tide",
        bindContext(() => (seen = who())),
      ),
    );
    asOther(() => emitter.emit("tide"));
    return seen;
  },
  "Any other listener of an emitter": () => {
    const emitter = new EventEmitter();
    let seen: string | undefined;
    asOther(() => emitter.on("tide", () => (seen = who())));
    asCaller(() => emitter.emit("tide"));
    return seen;
  },
  "A method of an observer of limiters": () => {
    let seen: string | undefined;
    const end = asOther(() => observeLimiters({ paused: () => (seen = who()) }));
    asCaller(() => {
      new RateLimiter({ maxRowsPerSecond: 1, clock }).pause(0);
    });
    end();
    return seen;
  },
  "A value of `provideLazy`, when it is made": () => asCaller(() => useContext(LAZY)),
  "The lifespan, the code after its `yield`, and closers": async () => {
    closed.length = 0;
    await asCaller(async () => {
      const child = environment.child((builder) => {
        closed.push(who());
        builder.defer(() => {
          closed.push(who());
        });
      });
      await child.start();
      await child.stop();
    });
    return [...new Set(closed)].join();
  },
};

const rows = [
  ...readDocument("docs/concepts/context.md").text.matchAll(
    /^\| ([^|]+?) +\| (the caller|the environment) +\|$/gm,
  ),
];

test("the table of the page has these rows", () => {
  expect(rows.map(([, situation]) => situation)).toEqual(Object.keys(SITUATIONS));
});

test.each(rows.map(([, situation = "", sees]) => [situation, sees]))("%s: %s", async (situation, sees) => {
  expect(await SITUATIONS[situation ?? ""]?.()).toBe(sees);
});
