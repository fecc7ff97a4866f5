import { expect, test } from "@jest/globals";
import { Deferred } from "../../../src/internal/deferred.js";

test("resolves its promise", async () => {
  const deferred = new Deferred<number>();
  deferred.resolve(1);
  deferred.resolve(2);
  deferred.reject(new Error("too late"));
  expect(await deferred.promise).toBe(1);
});

test("rejects its promise", async () => {
  const deferred = new Deferred<number>();
  const reason = { any: "thing" };
  deferred.reject(reason);
  deferred.resolve(1);
  await expect(deferred.promise).rejects.toBe(reason);
});

test("follows a promise that it is resolved with", async () => {
  const deferred = new Deferred<number>();
  deferred.resolve(Promise.resolve(3));
  expect(await deferred.promise).toBe(3);
});
