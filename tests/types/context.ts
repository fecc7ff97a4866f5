// Checked by `npm run types` alone; never run.
import type { ContextKeyOptions } from "../../src/context/index.js";
import { bindContext, ContextKey, tryUseContext, useContext, withContext } from "../../src/context/index.js";
import type { EnvironmentBuilder } from "../../src/lifespan/index.js";
import { expectType } from "../support/lifespan-types.js";

interface Animal {
  readonly name: string;
}
interface Dog extends Animal {
  bark(): void;
}

declare const animal: Animal;
declare const dog: Dog;
declare const builder: EnvironmentBuilder;

const animalKey = new ContextKey<Animal>("animal");
const dogKey = new ContextKey<Dog>("dog");

// The value has the type of the key; only tryUseContext may give undefined.
expectType(useContext(dogKey)).toBe<Dog>(true);
expectType(tryUseContext(dogKey)).toBe<Dog | undefined>(true);

// Keys are invariant, in both directions.
// @ts-expect-error a key of Dog is no key of Animal
const wider: ContextKey<Animal> = dogKey;
// @ts-expect-error a key of Animal is no key of Dog
const narrower: ContextKey<Dog> = animalKey;
// @ts-expect-error nor a key of unknown
const unknownKey: ContextKey<unknown> = dogKey;
// @ts-expect-error useContext at a wider type
useContext<Animal>(dogKey);
// @ts-expect-error useContext at a narrower type
useContext<Dog>(animalKey);

// A value must have the type of the key; it does not widen the key.
builder.provide(animalKey, dog);
// @ts-expect-error an Animal is no Dog
builder.provide(dogKey, animal);
// @ts-expect-error the key holds an Animal
builder.provide(animalKey, 7);
withContext(animalKey, dog, () => undefined);
// @ts-expect-error an Animal is no Dog
withContext(dogKey, animal, () => undefined);

// withContext gives what its body gives.
const seven = withContext(dogKey, dog, () => 7 as const);
expectType(seven).toBe<7>(true);
const promised = withContext(dogKey, dog, () => Promise.resolve("x"));
expectType(promised).toBe<Promise<string>>(true);

// bindContext keeps the signature, generics and overloads included.
function overloaded(value: string): string;
function overloaded(value: number): number;
function overloaded(value: string | number): string | number {
  return value;
}
expectType(bindContext(overloaded)).toBe<typeof overloaded>(true);
const identity = bindContext(<T>(value: T): T => value);
const same = identity(dog);
expectType(same).toBe<Dog>(true);
// @ts-expect-error not a function
bindContext(7);

// A default has the type of the key.
new ContextKey<number>("n", { defaultValue: () => 1 });
// @ts-expect-error the key holds a number
new ContextKey<number>("n", { defaultValue: () => "1" });
// @ts-expect-error a key needs a name
new ContextKey<number>();
const options: ContextKeyOptions<number> = {};

export { narrower, options, seven, unknownKey, wider };
