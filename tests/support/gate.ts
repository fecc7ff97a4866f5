/** A promise that the test settles. */
export interface Gate<T = void> {
  readonly promise: Promise<T>;
  readonly open: (value: T) => void;
  readonly fail: (error: unknown) => void;
}

export function gate<T = void>(): Gate<T> {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}
