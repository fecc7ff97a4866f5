// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- compares without assignability
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** `expectType(value).toBe<T>(true)` compiles when the type of `value` is T, and neither wider nor narrower. */
export declare function expectType<A>(value: A): { toBe<B>(are: Same<A, B>): void };
