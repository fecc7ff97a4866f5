import { afterEach, describe, expect, jest, test } from "@jest/globals";
import type { FetchInput } from "../../../src/fetch/index.js";
import { ok, reasonOf, refusal, type Server, setUp, settled, URL_OF_IT } from "./support/set-up.js";

// What is sent, how often, and what is not.

afterEach(() => {
  jest.restoreAllMocks();
});

const AGAIN = { retry: { methods: ["GET", "PUT", "POST"] } };

/** Refuses the first request; writes down what came: method, type, length, body. */
function recorder(): { server: Server; seen: string[][] } {
  const seen: string[][] = [];
  const server: Server = async (count, input, init) => {
    const request = new Request(input, init);
    const body = await request.arrayBuffer();
    const type = request.headers.get("content-type")?.split(";")[0] ?? "";
    seen.push([request.method, type, String(body.byteLength), new TextDecoder().decode(body)]);
    return count === 1 ? refusal({ "retry-after": "0" }) : ok();
  };
  return { server, seen };
}

async function sendTwice(
  input: FetchInput,
  init?: RequestInit,
): Promise<{ seen: string[][]; status: number }> {
  const { server, seen } = recorder();
  const { clock, fetch } = setUp(server, AGAIN);
  const answered = fetch(input, init);
  await settled();
  await clock.advance(10);
  await settled();
  return { seen, status: (await answered).status };
}

describe("what can be sent again arrives twice, the same", () => {
  const form = new FormData();
  form.set("a", "1");
  test.each<[string, BodyInit | null, string]>([
    ["text", '{"a":1}', '{"a":1}'],
    ["URLSearchParams", new URLSearchParams({ a: "1" }), "a=1"],
    ["Uint8Array", new Uint8Array([97, 98]), "ab"],
    ["ArrayBuffer", new Uint8Array([97, 98]).buffer, "ab"],
    ["Blob", new Blob(["abc"]), "abc"],
    ["no body", null, ""],
  ])("%s", async (_, body, text) => {
    const { seen, status } = await sendTwice(URL_OF_IT, { method: body === null ? "GET" : "POST", body });
    expect(seen.map(([, , , arrived]) => arrived)).toEqual([text, text]);
    expect(seen[1]).toEqual(seen[0]);
    expect(status).toBe(200);
  });

  test("FormData", async () => {
    const { seen } = await sendTwice(URL_OF_IT, { method: "POST", body: form });
    expect(seen.map(([method, type, length]) => [method, type, length])).toEqual([
      ["POST", "multipart/form-data", seen[0]?.[2]],
      ["POST", "multipart/form-data", seen[0]?.[2]],
    ]);
    expect(seen[1]?.[3]).toContain('name="a"');
  });

  test("a Request, with what init changes", async () => {
    const request = new Request(URL_OF_IT, { method: "POST", body: '{"a":1}' });
    const { seen } = await sendTwice(request, {
      method: "PUT",
      headers: { "content-type": "application/json" },
    });
    const arrived = ["PUT", "application/json", "7", '{"a":1}'];
    expect(seen).toEqual([arrived, arrived]);
  });

  test("a Request whose body init replaces", async () => {
    const request = new Request(URL_OF_IT, { method: "POST", body: "of the request" });
    const { seen } = await sendTwice(request, { body: "of init" });
    expect(seen.map(([, , , body]) => body)).toEqual(["of init", "of init"]);
  });

  test("a URL", async () => {
    const { seen } = await sendTwice(new URL(URL_OF_IT));
    expect(seen).toHaveLength(2);
  });

  test("a Request of another make", async () => {
    const clones: unknown[] = [];
    const foreign = {
      ...{ url: URL_OF_IT, method: "get", headers: { a: "1" }, signal: null },
      clone: () => {
        clones.push({ ...foreign });
        return clones.at(-1);
      },
    };
    const seen: unknown[] = [];
    const { clock, fetch } = setUp((count, input) => {
      seen.push(input);
      return count === 1 ? refusal({ "retry-after": "0" }) : ok();
    });
    const answered = fetch(foreign as unknown as Request);
    await clock.advance(10);
    expect((await answered).status).toBe(200);
    expect(seen).toEqual(clones);
  });
});

describe("what can be read once only is sent once, and the refusal is handed on", () => {
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array([97]);
  }
  test.each<[string, () => unknown]>([
    ["a stream", () => new Blob(["a"]).stream()],
    ["an async iterable", () => parts()],
    ["a stream of Node", () => ({ pipe: () => undefined })],
  ])("%s", async (_, body) => {
    const seen: unknown[] = [];
    const { clock, fetch } = setUp((_count, _input, init) => {
      seen.push(init);
      return refusal({ "retry-after": "1" });
    }, AGAIN);
    const init = { method: "POST", body: body() as ReadableStream, duplex: "half" } as RequestInit;
    const response = await fetch(URL_OF_IT, init);
    expect([response.status, await response.text()]).toEqual([429, "refused"]);
    await clock.advance(10_000);
    // The same object: nothing has read or copied the stream.
    expect(seen).toEqual([init]);
    expect(seen[0]).toBe(init);
  });
});

describe("how often", () => {
  test.each<[string, Parameters<typeof setUp>[1], string, number]>([
    ["GET", {}, "GET", 3],
    ["get, in small letters", {}, "get", 3],
    ["HEAD", {}, "HEAD", 3],
    ["PUT", {}, "PUT", 3],
    ["DELETE", {}, "DELETE", 3],
    ["POST, unless told", {}, "POST", 1],
    ["PATCH, unless told", {}, "PATCH", 1],
    ["POST, when told", AGAIN, "POST", 3],
    ["DELETE, when only others are told", AGAIN, "DELETE", 1],
    ["retry: false", { retry: false }, "GET", 1],
    ["retry: 0", { retry: 0 }, "GET", 1],
    ["retry: 1", { retry: 1 }, "GET", 2],
    ["retry: { retries: 4 }", { retry: { retries: 4 } }, "GET", 5],
    ["no status is a refusal", { retry: { statuses: [] } }, "GET", 1],
  ])("%s", async (_, options, method, times) => {
    const { clock, sent, fetch } = setUp(() => refusal({ "retry-after": "1" }), options);
    const answered = fetch(URL_OF_IT, { method });
    await clock.advance(60_000);
    expect(sent).toHaveLength(times);
    const response = await answered;
    expect([response.status, await response.text()]).toEqual([429, "refused"]);
  });

  test("a failure of the network passes through, and the estimate stands", async () => {
    const { limiter, fetch, sent } = setUp(() => Promise.reject(new TypeError("fetch failed")), { cost: 5 });
    expect(await reasonOf(fetch(URL_OF_IT))).toEqual(new TypeError("fetch failed"));
    expect(sent).toHaveLength(1);
    expect(limiter.stats()).toMatchObject({ grantedTokens: 5, pausedForMs: 0 });
  });

  test("the body of an answer that is not handed on is let go", async () => {
    const cancelled = jest.fn();
    const { clock, call } = setUp((count) =>
      count === 1
        ? new Response(
            new ReadableStream({
              cancel: () => {
                cancelled();
              },
            }),
            {
              status: 429,
              headers: { "retry-after": "0" },
            },
          )
        : ok(),
    );
    call("a");
    await clock.advance(1);
    await settled();
    expect(cancelled).toHaveBeenCalledTimes(1);
  });
});

test("an answer is handed on as it came", async () => {
  const response = new Response(new ReadableStream());
  const { fetch } = setUp(() => response, { settle: undefined });
  expect(await fetch(URL_OF_IT)).toBe(response);
  expect(response.bodyUsed).toBe(false);
});

test("a Request that is sent once is sent itself, uncopied", async () => {
  const seen: unknown[] = [];
  const { fetch } = setUp((_, input) => (seen.push(input), ok()), { retry: false });
  const request = new Request(URL_OF_IT);
  await fetch(request);
  expect(seen[0]).toBe(request);
});

test("the global fetch is looked up at each call", async () => {
  const { limiter } = setUp(() => ok());
  const { limitFetch } = await import("../../../src/fetch/index.js");
  const limited = limitFetch(limiter);
  const spy = jest.spyOn(globalThis, "fetch").mockResolvedValue(ok("of the spy"));
  expect(await (await limited(URL_OF_IT)).text()).toBe("of the spy");
  expect(spy).toHaveBeenCalledWith(URL_OF_IT, undefined);
});

test("what a runtime has on its fetch is on the limited one, too", () => {
  const preconnect = (): void => undefined;
  const { fetch } = setUp(() => ok(), {
    fetch: Object.assign(() => Promise.resolve(ok()), { preconnect }),
  });
  expect(fetch).toHaveProperty("preconnect", preconnect);
});
