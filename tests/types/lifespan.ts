// Checked by `npm run types` alone; never run.
import { ContextKey } from "../../src/context/index.js";
import type { EnvironmentBuilder, EnvironmentOptions, Lifespan } from "../../src/lifespan/index.js";
import {
  composeLifespans,
  defaultEnvironment,
  Environment,
  lifespan,
  start,
  stop,
} from "../../src/lifespan/index.js";
import { expectType } from "../support/lifespan-types.js";

class Pool implements AsyncDisposable {
  readonly size = 1;
  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

const POOL = new ContextKey<Pool>("pool");
const LIMIT = new ContextKey<number>("limit");

// Both kinds of generator are lifespans, declared or in place; the function is returned as it is.
async function* declared(builder: EnvironmentBuilder): AsyncGenerator<void, void, void> {
  await builder.provideWith(POOL, new Pool());
  yield;
}
const registered = lifespan(declared);
expectType(registered).toBe<typeof declared>(true);
lifespan(async function* (builder) {
  await Promise.resolve();
  builder.provide(LIMIT, 1);
  yield;
});
lifespan(function* (builder) {
  builder.provide(LIMIT, 1);
  yield;
});
const inferred = async function* (builder: EnvironmentBuilder) {
  await builder.provideWith(POOL, new Pool());
  yield;
};
const composed: Lifespan = composeLifespans(declared, inferred);

// @ts-expect-error an async function without the * is no lifespan
lifespan(async (builder: EnvironmentBuilder) => {
  await builder.provideWith(POOL, new Pool());
});
// @ts-expect-error nor is a plain function
new Environment({ lifespan: () => undefined });
// @ts-expect-error it yields nothing
lifespan(function* () {
  yield 7;
});

declare const builder: EnvironmentBuilder;

// provide returns the value at the type of the key; a disposer is given it.
const limit = builder.provide(LIMIT, 1, (value) => {
  expectType(value).toBe<number>(true);
});
expectType(limit).toBe<number>(true);
// @ts-expect-error F72: the key holds a number
builder.provide(LIMIT, undefined);
// @ts-expect-error the key holds a number
builder.provide(LIMIT, "1");

const pool = builder.provideWith(POOL, Promise.resolve(new Pool()));
expectType(pool).toBe<Promise<Pool>>(true);
// A key of what the value can do takes a value that can also be closed.
const SIZED = new ContextKey<{ readonly size: number }>("sized");
expectType(builder.provideWith(SIZED, new Pool())).toBe<Promise<Pool>>(true);
// @ts-expect-error a number cannot be closed
void builder.provideWith(LIMIT, 1);
// @ts-expect-error nor is it a Pool
void builder.provideWith(POOL, { [Symbol.dispose]: () => undefined });

builder.provideLazy(LIMIT, () => 1);
// @ts-expect-error F72: a make that returns nothing
builder.provideLazy(LIMIT, () => undefined);
// @ts-expect-error a promise of the value is another value
builder.provideLazy(LIMIT, () => Promise.resolve(1));

// The environment reads at the type of the key; run gives what its body gives; start gives the environment.
declare const environment: Environment;
const value = environment.get(LIMIT);
expectType(value).toBe<number>(true);
const tried = environment.tryGet(LIMIT);
expectType(tried).toBe<number | undefined>(true);
const ran = environment.run(() => Promise.resolve("x"));
expectType(ran).toBe<Promise<string>>(true);
class Named extends Environment {}
const started = new Named().start();
expectType(started).toBe<Promise<Named>>(true);
expectType(start()).toBe<Promise<Environment>>(true);
expectType(stop()).toBe<Promise<void>>(true);
expectType(defaultEnvironment).toBe<Environment>(true);

// requires takes keys of any types; child takes a function that provides.
const options: EnvironmentOptions = { requires: [POOL, LIMIT] };
environment.child((child) => {
  child.provide(LIMIT, 2);
});
environment.child(async (child) => {
  await child.provideWith(POOL, new Pool());
});
// @ts-expect-error a generator function is for the option lifespan
environment.child(declared);
// @ts-expect-error an unknown option
new Environment({ timeout: 1 });
// @ts-expect-error the state is read only
environment.state = "running";

export { composed, options };
