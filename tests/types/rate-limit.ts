// Checked by `npm run types`; never run.
import {
  type AcquireOptions,
  type Clock,
  isTidegateError,
  KeyedRateLimiter,
  type KeyedRateLimiterOptions,
  KeyLimitError,
  type Limiter,
  LimiterClosedError,
  type LimiterObserver,
  observeLimiters,
  perHour,
  PermitUsedError,
  QueueFullError,
  RateLimiter,
  type RateLimiterOptions,
  type RateLimiterStats,
  TidegateError,
  WaitTooLongError,
} from "tidegate/rate-limit";
import { ManualClock } from "tidegate/testing";

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- compares without assignability
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function expectType<A>(value: A): { toBe<B>(are: Same<A, B>): void };

declare const limiter: RateLimiter;
declare const maybeNumber: number | undefined;
declare const maybeSignal: AbortSignal | undefined;

// The constructor: a rate is needed, all else may be left out or undefined.
new RateLimiter({ maxRowsPerSecond: 1 });
new RateLimiter({ maxRowsPerSecond: perHour(10), burstWindowSecs: maybeNumber, maxQueue: maybeNumber });
new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, name: "api", clock: new ManualClock() });
// @ts-expect-error the rate is missing
new RateLimiter({});
// @ts-expect-error nothing is given
new RateLimiter();
// @ts-expect-error a rate is a number
new RateLimiter({ maxRowsPerSecond: "5" });
// @ts-expect-error no such option
new RateLimiter({ maxRowsPerSecond: 1, burst: 2 });
// @ts-expect-error a clock reads and waits
new RateLimiter({ maxRowsPerSecond: 1, clock: { now: () => 0 } });

// Options can be read, not written.
declare const options: RateLimiterOptions;
// @ts-expect-error it is readonly
options.maxRowsPerSecond = 5;

// What the methods give.
expectType(limiter.acquire()).toBe<Promise<void>>(true);
expectType(limiter.tryAcquire()).toBe<boolean>(true);
expectType(limiter.estimateWaitMs()).toBe<number>(true);
expectType(limiter.onIdle()).toBe<Promise<void>>(true);
expectType(limiter.stats()).toBe<RateLimiterStats>(true);
expectType(limiter.name).toBe<string>(true);
declare const acquireArguments: Parameters<RateLimiter["acquire"]>;
expectType(acquireArguments).toBe<[n?: number | undefined, options?: AcquireOptions | undefined]>(true);

void limiter.acquire();
void limiter.acquire(maybeNumber, { signal: maybeSignal, maxWaitMs: maybeNumber });
// @ts-expect-error tokens are a number
void limiter.acquire("1");
// @ts-expect-error a signal, not its controller
void limiter.acquire(1, { signal: new AbortController() });
// @ts-expect-error no such option
void limiter.acquire(1, { timeout: 5 });
// @ts-expect-error the number is needed
limiter.refund();
// @ts-expect-error the number is needed
limiter.charge();
// @ts-expect-error the time is needed
limiter.pause();
// @ts-expect-error what is set must be given
limiter.setRate();
limiter.setRate({});
limiter.setRate({ maxRowsPerSecond: 5 });
limiter.setRate({ burstWindowSecs: 5 });
// @ts-expect-error the line cannot be changed
limiter.setRate({ maxQueue: 5 });
limiter.close();
limiter.close("any reason");

// Numbers of stats can be read, not written.
// @ts-expect-error it is readonly
limiter.stats().queued = 5;

// What a pipeline asks for: any object that can acquire is a Limiter.
export const asLimiter: Limiter = limiter;
export const own: Limiter = { acquire: () => Promise.resolve() };
// @ts-expect-error it must be a promise
export const notAsync: Limiter = { acquire: () => true };
// @ts-expect-error a Limiter promises no more than acquire
export const more: keyof Limiter = "tryAcquire";

// A limiter can be disposed of.
export const disposable: Disposable = limiter;

// wrap keeps the signature, and checks the cost against it.
const send = limiter.wrap((rows: readonly string[], urgent?: boolean) =>
  Promise.resolve(urgent === true ? 0 : rows.length),
);
expectType(send).toBe<(rows: readonly string[], urgent?: boolean) => Promise<number>>(true);
limiter.wrap(send, (rows, urgent) => {
  expectType(rows).toBe<readonly string[]>(true);
  expectType(urgent).toBe<boolean | undefined>(true);
  return rows.length;
});
// @ts-expect-error the cost is a number
limiter.wrap(send, () => "1");
// @ts-expect-error the cost takes the arguments of the function
limiter.wrap(send, (rows: number) => rows);
// @ts-expect-error a function that returns at once cannot wait
limiter.wrap((n: number) => n);

async function generic<T>(value: T): Promise<T> {
  return await Promise.resolve(value);
}
const wrapped = limiter.wrap(generic);
expectType(wrapped).toBe<typeof generic>(true);

class Client {
  readonly base = "https://example.org";
  get = limiter.wrap(async function (this: Client, path: string): Promise<string> {
    return await Promise.resolve(this.base + path);
  });
}
void new Client().get("/");
// @ts-expect-error `this` must be a Client
void new Client().get.call(undefined, "/");

// Limiters by key.
interface Tenant {
  readonly id: number;
}
declare const tenant: Tenant;
const perTenant = new KeyedRateLimiter<Tenant>({ maxRowsPerSecond: 1 });
new KeyedRateLimiter<string>({ maxRowsPerSecond: 1, burstWindowSecs: 5, maxKeys: maybeNumber, maxQueue: 5 });
new KeyedRateLimiter<string>({ maxRowsPerSecond: 1, name: "hosts", clock: new ManualClock() });
// @ts-expect-error the rate is missing
new KeyedRateLimiter<string>({ maxKeys: 5 });
// @ts-expect-error a key that comes back is full
new KeyedRateLimiter<string>({ maxRowsPerSecond: 1, initialTokens: 0 });
declare const keyedOptions: KeyedRateLimiterOptions;
// @ts-expect-error it is readonly
keyedOptions.maxKeys = 5;

expectType(perTenant.for(tenant)).toBe<RateLimiter>(true);
expectType(perTenant.acquire(tenant)).toBe<Promise<void>>(true);
expectType(perTenant.tryAcquire(tenant)).toBe<boolean>(true);
expectType(perTenant.size).toBe<number>(true);
expectType(perTenant.name).toBe<string>(true);
void perTenant.acquire(tenant, maybeNumber, { signal: maybeSignal, maxWaitMs: 5 });
perTenant.tryAcquire(tenant, 5);
perTenant.close("any reason");
// @ts-expect-error no key of that type
perTenant.for("tenant");
// @ts-expect-error the key is needed
void perTenant.acquire();
// @ts-expect-error no key of that type
perTenant.tryAcquire(1);
// @ts-expect-error it can be read, not written
perTenant.size = 0;
export const disposableKeys: Disposable = perTenant;
// @ts-expect-error acquire takes a key first
export const keyedAsLimiter: Limiter = perTenant;

// Clocks.
export const clock: Clock = new ManualClock();
expectType(clock.schedule(5, () => undefined)).toBe<() => void>(true);
expectType(new ManualClock().advance(5)).toBe<Promise<void>>(true);
expectType(new ManualClock().pending).toBe<number>(true);
// @ts-expect-error a count can be read, not written
new ManualClock().pending = 5;

// Observers may have any of the methods, and see what happened.
expectType(observeLimiters({})).toBe<() => void>(true);
observeLimiters({
  granted: (event) => {
    expectType(event.limiter).toBe<string>(true);
    expectType(event.waitedMs).toBe<number>(true);
    expectType(event.cost).toBe<unknown>(true);
    expectType(event.call).toBe<object | undefined>(true);
  },
  waited: ({ call }) => {
    expectType(call).toBe<object>(true);
  },
  left: ({ reason }) => {
    expectType(reason).toBe<unknown>(true);
  },
  refused: ({ reason }) => {
    expectType(reason).toBe<unknown>(true);
  },
  paused: ({ ms }) => {
    expectType(ms).toBe<number>(true);
  },
});
// @ts-expect-error no such method
observeLimiters({ denied: () => undefined });
export const observer: LimiterObserver = { waited: () => undefined };

// Errors: the guard and instanceof narrow.
declare const error: unknown;
if (isTidegateError(error)) expectType(error).toBe<TidegateError>(true);
if (isTidegateError(error, "QUEUE_FULL")) expectType(error).toBe<TidegateError>(true);
// @ts-expect-error no such code
isTidegateError(error, "QUEUE_EMPTY");
if (error instanceof WaitTooLongError) {
  expectType(error.estimatedWaitMs).toBe<number>(true);
  expectType<"WAIT_TOO_LONG">(error.code);
}
if (error instanceof QueueFullError) {
  expectType(error.maxQueue).toBe<number>(true);
  // @ts-expect-error facts can be read, not written
  error.maxQueue = 5;
}
if (error instanceof KeyLimitError) {
  expectType(error.maxKeys).toBe<number>(true);
  expectType<"KEY_LIMIT">(error.code);
}
if (error instanceof PermitUsedError) expectType<"PERMIT_USED">(error.code);
if (error instanceof LimiterClosedError) expectType<"LimiterClosedError">(error.name);
// @ts-expect-error the base class is not made by itself
new TidegateError("x");
