import { expect, test } from "@jest/globals";
import {
  ContextKey,
  MissingContextError,
  NoEnvironmentError,
  tryUseContext,
  useContext,
} from "../../../src/context/index.js";
import { isTidegateError } from "../../../src/errors.js";
import { Environment } from "../../../src/lifespan/index.js";
import { errorOf, opening } from "../../support/lifespan-helpers.js";

const DB = new ContextKey<string>("db");
const CACHE = new ContextKey<string>("cache");

async function withDb(body: () => void | Promise<void>): Promise<void> {
  const environment = await new Environment({
    name: "crawl",
    lifespan: opening((builder) => {
      builder.provide(DB, "the db");
    }),
  }).start();
  await environment.run(body);
  await environment.stop();
}

test("useContext gives what the environment provides, after any await", async () => {
  await withDb(async () => {
    expect(useContext(DB)).toBe("the db");
    await new Promise((resolve) => setImmediate(resolve));
    expect(useContext(DB)).toBe("the db");
    expect(tryUseContext(DB)).toBe("the db");
  });
});

test("a key that is not provided: the error names key, environment, state and what is provided", async () => {
  await withDb(async () => {
    const error = await errorOf(() => useContext(CACHE));
    expect(error).toBeInstanceOf(MissingContextError);
    expect(isTidegateError(error, "CONTEXT_MISSING")).toBe(true);
    expect(error).toMatchObject({ key: "cache", environment: "crawl", state: "running", provided: ["db"] });
    expect(error.message).toMatch(
      /"cache".*"crawl" \(running\).*Keys provided: db\. Provide it in the lifespan/s,
    );
    expect(tryUseContext(CACHE)).toBeUndefined();
  });
});

test("keys are compared by identity: a namesake is not found, and the error says that it is there", async () => {
  await withDb(async () => {
    const namesake = new ContextKey<string>("db");
    expect(tryUseContext(namesake)).toBeUndefined();
    const error = await errorOf(() => useContext(namesake));
    expect(error.message).toMatch(/loaded twice.*import\.meta\.hot/s);
  });
});

test("outside every environment the error is another one", async () => {
  const error = await errorOf(() => useContext(DB));
  expect(error).toBeInstanceOf(NoEnvironmentError);
  expect(isTidegateError(error, "ENVIRONMENT_MISSING")).toBe(true);
  expect(error).toMatchObject({ key: "db" });
});

test("inside an environment that does not provide it, a key's default is given", async () => {
  const withDefault = new ContextKey("limit", { defaultValue: () => 10 });
  await withDb(() => {
    expect(useContext(withDefault)).toBe(10);
    expect(tryUseContext(withDefault)).toBe(10);
  });
});
