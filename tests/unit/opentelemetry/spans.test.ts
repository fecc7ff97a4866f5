import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { diag, trace } from "@opentelemetry/api";
import { Environment } from "../../../src/lifespan/index.js";
import { registry } from "../../../src/internal/registry.js";
import { VERSION } from "../../../src/internal/version.js";
import { instrument } from "../../../src/opentelemetry/index.js";
import { App, fn, map, type RunHandle } from "../../../src/pipeline/index.js";
import { errorOf, gate, settle, thrownBy } from "../pipeline/helpers.js";
import { Tracers } from "./support/tracers.js";

let tracers: Tracers;
let environment: Environment;
let stop: () => void;

beforeEach(() => {
  tracers = new Tracers();
  environment = new Environment({ name: "test" });
  stop = instrument({ tracerProvider: tracers.provider, spans: true });
});
afterEach(async () => {
  stop();
  await environment.stop();
  await tracers.shutdown();
  expect(registry().callTracer).toBeUndefined();
});

describe("a call of an fn", () => {
  test("is a span below the active one, and active itself; so are the spans in it", async () => {
    const inner = fn(async function inner(n: number): Promise<number> {
      tracers.mark("before");
      await settle();
      tracers.mark("after");
      return n + 1;
    });
    const outer = fn({ name: "renamed" }, async (n: number) => (await inner(n)) + 1);
    expect(await tracers.inSpan("user", () => outer(1))).toBe(3);
    expect(tracers.paths).toEqual([
      "user",
      "user > renamed",
      "user > renamed > inner",
      "user > renamed > inner > after",
      "user > renamed > inner > before",
    ]);
    expect(tracers.one("inner").attributes).toEqual({ "tidegate.function": "inner" });
    expect(tracers.one("renamed").attributes).toEqual({ "tidegate.function": "renamed" });
    expect(tracers.one("inner").instrumentationScope).toMatchObject({ name: "tidegate", version: VERSION });
  });

  test("lasts until the promise settles", async () => {
    const door = gate();
    const wait = fn(async function wait() {
      await door.promise;
    });
    const call = wait();
    await settle();
    expect(tracers.paths).toEqual([]);
    door.open();
    await call;
    expect(tracers.paths).toEqual(["wait"]);
  });

  test("that is sync is a span too, stays sync, and keeps its this", () => {
    const add = fn(function add(this: { by: number }, n: number): number {
      tracers.mark("in it");
      return n + this.by;
    });
    expect(add.call({ by: 2 }, 1)).toBe(3);
    expect(tracers.paths).toEqual(["add", "add > in it"]);
    expect(tracers.failureOf("add")).toBeUndefined();
  });

  test("that fails has the exception and the status, and the caller the same error", async () => {
    const error = new TypeError("no such page");
    const rejects = fn(async function rejects() {
      throw error;
    });
    const throws = fn(function throws() {
      throw error;
    });
    const odd = fn(async function odd() {
      throw { code: 7 };
    });
    expect(await errorOf(rejects())).toBe(error);
    expect(thrownBy(throws)).toBe(error);
    expect(await errorOf(odd())).toEqual({ code: 7 });
    const failure = {
      message: "no such page",
      type: "TypeError",
      exceptions: [["exception", "TypeError", "no such page"]],
    };
    expect(tracers.failureOf("rejects")).toEqual(failure);
    expect(tracers.failureOf("throws")).toEqual(failure);
    expect(tracers.failureOf("odd")).toEqual({
      message: "an object",
      type: "_OTHER",
      exceptions: [["exception", undefined, "an object"]],
    });
  });

  test("ends its span also when what it has thrown cannot be looked at", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const odd = fn(function odd() {
      throw proxy;
    });
    const silent = fn(function silent() {
      throw Object.defineProperty(new Error(), "message", { get: () => odd() });
    });
    expect(thrownBy(odd) === proxy).toBe(true);
    expect(thrownBy(silent)).toBeInstanceOf(Error);
    expect(tracers.failureOf("silent")).toBeUndefined(); // nothing could be said, but it has ended
    expect(tracers.spans.map(({ name, status }) => [name, status.message])).toEqual([
      ["odd", "an object"],
      ["odd", "an object"],
      ["silent", undefined],
    ]);
  });

  test("gives a promise of its own, so that a failure which nobody handles stays unhandled", async () => {
    const promise = Promise.reject(new Error("nobody looks"));
    const looks: unknown[] = [];
    const given = fn(() => promise)();
    expect(given).not.toBe(promise);
    given.catch((error: unknown) => looks.push(error));
    await settle();
    expect(looks).toEqual([new Error("nobody looks")]);
    expect(tracers.failureOf("anonymous")).toMatchObject({ message: "nobody looks" });
  });

  test("without a name has one all the same", () => {
    fn(() => 1)();
    expect(tracers.paths).toEqual(["anonymous"]);
    expect(tracers.one("anonymous").attributes).toEqual({ "tidegate.function": "" });
  });

  test("with limits waits in its span", async () => {
    const door = gate();
    const work = fn({ concurrency: 1, name: "work" }, async (name: string) => {
      tracers.mark(`in ${name}`);
      await door.promise;
    });
    const calls = ["a", "b"].map((name) => tracers.inSpan(name, () => work(name)));
    await settle();
    door.open();
    await Promise.all(calls);
    expect(tracers.paths).toEqual(["a", "a > work", "a > work > in a", "b", "b > work", "b > work > in b"]);
  });

  test("that returns a generator lasts until that has ended, and is active in each step", async () => {
    const pages = fn(async function* pages() {
      tracers.mark("step 1");
      yield 1;
      await settle();
      tracers.mark("step 2");
      yield 2;
    });
    const sync = fn(function* sync(): Generator<number> {
      tracers.mark("only step");
      yield 1;
      throw new Error("broken");
    });
    const complaints = jest.fn();
    diag.setLogger({ error: complaints, warn: complaints, info: ignore, debug: ignore, verbose: ignore });
    const iterator = pages();
    const seen = [await tracers.inSpan("reader", () => iterator.next())];
    await tracers.inSpan("idle", () => undefined);
    expect(tracers.paths).toEqual(["idle", "reader", "unended > step 1"]);
    seen.push(await tracers.inSpan("other reader", () => iterator.next()), await iterator.next());
    await iterator.next(); // once more: the span ends once
    diag.disable();
    expect(complaints).not.toHaveBeenCalled();
    expect(seen.map(({ value }) => value)).toEqual([1, 2, undefined]);
    expect(() => [...sync()]).toThrow("broken");
    expect(tracers.paths).toEqual([
      "idle",
      "other reader",
      "pages",
      "pages > step 1",
      "pages > step 2",
      "reader",
      "sync",
      "sync > only step",
    ]);
    expect(tracers.failureOf("sync")).toMatchObject({ message: "broken" });
    expect(tracers.failureOf("pages")).toBeUndefined();
  });

  test("hands what is no plain promise on as it is", async () => {
    let looked = 0;
    class Lazy extends Promise<number> {
      override then: Promise<number>["then"] = (...args) => {
        looked += 1;
        return super.then(...args);
      };
    }
    const own = new Lazy((resolve) => {
      resolve(1);
    });
    const thenable = { then: () => void (looked += 1) };
    expect(fn(() => own)()).toBe(own);
    expect(fn(() => thenable)()).toBe(thenable);
    expect(looked).toBe(0);
    expect(tracers.paths).toEqual(["anonymous", "anonymous"]);
  });

  test("that returns the handle of a run hands the handle on, and lasts until the run is over", async () => {
    const door = gate();
    const app = new App({ name: "app", environment }, () => door.promise);
    const begin = fn(function begin(): RunHandle<void> {
      return app.run();
    });
    const handle = begin();
    expect(typeof handle.abort).toBe("function");
    await settle();
    expect(tracers.paths).toEqual([]);
    door.open();
    await handle;
    expect(tracers.paths).toEqual(["begin", "begin > app"]);
  });
});

describe("a run of an app", () => {
  test("is a span around main, below the span that is active at app.run()", async () => {
    const step = fn(async function step() {
      await settle();
    });
    const app = new App({ name: "crawl", environment }, async () => {
      tracers.mark("main");
      await step();
      return 5;
    });
    const handle = await tracers.inSpan("request", () => [app.run()]);
    expect(await handle[0]).toBe(5);
    expect(tracers.paths).toEqual([
      "request",
      "request > crawl",
      "request > crawl > main",
      "request > crawl > step",
    ]);
    expect(tracers.one("crawl").attributes).toEqual({ "tidegate.app": "crawl" });
  });

  test("says why it failed: what main has thrown, or the reason of an abort that main has ignored", async () => {
    const fails = new App({ name: "fails", environment }, () => {
      throw new RangeError("bad");
    });
    const door = gate();
    const ignores = new App({ name: "ignores", environment }, () => door.promise);
    const plain = new App({ name: "plain", environment }, () => 5);
    expect(await errorOf(fails.run())).toEqual(new RangeError("bad"));
    expect(await plain.run()).toBe(5);
    const handle = ignores.run();
    const over = errorOf(handle);
    handle.abort(new Error("enough"));
    door.open();
    expect(await over).toEqual(new Error("enough"));
    expect(tracers.failureOf("fails")).toMatchObject({ type: "RangeError" });
    expect(tracers.failureOf("ignores")).toMatchObject({ message: "enough" });
    expect(tracers.failureOf("plain")).toBeUndefined();
  });

  test("that a lazy thenable is main's result of lasts until that is settled", async () => {
    const app = new App({ name: "lazy", environment }, () => ({
      then(resolve: (n: number) => void) {
        tracers.mark("works");
        resolve(3);
      },
    }));
    expect(await app.run()).toBe(3);
    expect(tracers.paths).toEqual(["lazy", "lazy > works"]);
  });
});

describe("instrument", () => {
  test("makes no spans unless asked, and none any more when told to end", async () => {
    stop();
    stop = instrument({ tracerProvider: tracers.provider });
    await fn(async () => 1)();
    stop();
    stop = instrument({ tracerProvider: tracers.provider, spans: false });
    await new App({ name: "app", environment }, () => 1).run();
    expect(tracers.paths).toEqual([]);
    stop();
    stop = instrument({ tracerProvider: tracers.provider, spans: true });
    const door = gate();
    const wait = fn(async function wait() {
      await door.promise;
    });
    const call = wait();
    stop();
    stop();
    const later = wait();
    door.open();
    await Promise.all([call, later]);
    expect(tracers.paths).toEqual(["wait"]); // what had begun ends
  });

  test("twice makes two spans, the first around the second", async () => {
    const stopAgain = instrument({ tracerProvider: tracers.provider, spans: true });
    await fn(async function twice() {
      tracers.mark("in it");
    })();
    stopAgain();
    await fn(async function once() {
      await settle();
    })();
    expect(tracers.paths).toEqual(["once", "twice", "twice > twice", "twice > twice > in it"]);
  });

  test("with the global provider makes spans also when that is set later", async () => {
    stop();
    stop = instrument({ spans: true });
    const work = fn(async function work() {
      await settle();
    });
    await work();
    expect(tracers.paths).toEqual([]);
    trace.setGlobalTracerProvider(tracers.provider);
    await work();
    expect(tracers.paths).toEqual(["work"]);
  });

  test.each(["startSpan", "end"] as const)(
    "with a tracer whose %s throws leaves the work alone",
    async (where) => {
      stop();
      const fail = (): never => {
        throw new Error("tracer");
      };
      const span = trace.wrapSpanContext({ traceId: "0", spanId: "0", traceFlags: 0 });
      const broken = { startSpan: where === "end" ? () => Object.assign(span, { end: fail }) : fail };
      stop = instrument({ tracerProvider: { getTracer: () => broken as never }, spans: true });
      const half = fn(async (n: number) => {
        if (n % 2 === 1) throw new Error("odd");
        return n / 2;
      });
      const app = new App({ name: "app", environment }, () => map(half, [2, 4]));
      expect(await app.run()).toEqual([1, 2]);
      expect(await errorOf(half(1))).toEqual(new Error("odd"));
    },
  );
});

function ignore(): void {
  // What a tracer says beside its complaints.
}
