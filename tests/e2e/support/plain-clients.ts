import axios from "axios";
import ky from "ky";
import { type Client, PROMPT } from "./client.js";
import { openOfetch } from "./untyped-clients.mjs";

const body = { prompt: PROMPT };

export const kyClient: Client = {
  name: "ky",
  style: "ietf",
  timedOut: /TimeoutError/,
  aborted: /AbortError/,
  open({ url, fetch, timeoutMs, retries = 0 }) {
    const client = ky.create({
      fetch,
      retry: retries,
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    });
    return {
      async ask(signal) {
        const answer = await client
          .post(url, { json: body, ...(signal && { signal }) })
          .json<{ text: string }>();
        return answer.text;
      },
      async *stream() {
        const response = await client.post(url, { json: { ...body, stream: true } });
        if (response.body !== null) yield* textsOf(response.body);
      },
    };
  },
};

export const ofetchClient: Client = {
  name: "ofetch",
  style: "github",
  timedOut: /TimeoutError/,
  aborted: /AbortError/,
  open({ url, fetch, timeoutMs, retries = 0 }) {
    const client = openOfetch(fetch);
    const options = {
      method: "POST",
      retry: retries,
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    } as const;
    return {
      async ask(signal) {
        const answer = await client(url, { ...options, body, ...(signal && { signal }) });
        return (answer as { text: string }).text;
      },
      async *stream() {
        const request = { ...options, body: { ...body, stream: true }, responseType: "stream" } as const;
        yield* textsOf((await client(url, request)) as ReadableStream<Uint8Array>);
      },
    };
  },
};

export const axiosClient: Client = {
  name: "axios",
  style: "ietf",
  timedOut: /AxiosError .*timeout of/,
  aborted: /CanceledError/,
  open({ url, fetch, timeoutMs }) {
    const client = axios.create({
      adapter: "fetch",
      env: { fetch },
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    });
    return {
      async ask(signal) {
        const answer = await client.post<{ text: string }>(url, body, signal && { signal });
        return answer.data.text;
      },
      async *stream() {
        const request = { ...body, stream: true };
        const { data } = await client.post<ReadableStream<Uint8Array>>(url, request, {
          responseType: "stream",
        });
        yield* textsOf(data);
      },
    };
  },
};

async function* textsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield decoder.decode(value, { stream: true });
  }
}
