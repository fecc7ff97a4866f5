import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type Client, PROMPT } from "./client.js";
import { openAiSdk } from "./untyped-clients.mjs";

const MODEL = "tide-1";
const messages = [{ role: "user" as const, content: PROMPT }];

export const openai: Client = {
  name: "OpenAI SDK",
  style: "openai",
  timedOut: /APIConnectionTimeoutError/,
  aborted: /APIUserAbortError/,
  open({ url, fetch, timeoutMs, retries = 0 }) {
    const client = new OpenAI({
      apiKey: "none",
      baseURL: `${url}/v1`,
      fetch,
      maxRetries: retries,
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    });
    return {
      async ask(signal) {
        const request = { model: MODEL, messages, max_completion_tokens: 20 };
        const answer = await client.chat.completions.create(request, signal && { signal });
        return answer.choices[0]?.message.content ?? "";
      },
      async *stream() {
        const parts = await client.chat.completions.create({ model: MODEL, messages, stream: true });
        for await (const part of parts) yield part.choices[0]?.delta.content ?? "";
      },
    };
  },
};

export const anthropic: Client = {
  name: "Anthropic SDK",
  style: "anthropic",
  timedOut: /APIConnectionTimeoutError/,
  aborted: /APIUserAbortError/,
  open({ url, fetch, timeoutMs, retries = 0 }) {
    const client = new Anthropic({
      apiKey: "none",
      baseURL: url,
      fetch,
      maxRetries: retries,
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    });
    const request = { model: MODEL, messages, max_tokens: 20 };
    return {
      async ask(signal) {
        const { content } = await client.messages.create(request, signal && { signal });
        return content.map((block) => (block.type === "text" ? block.text : "")).join("");
      },
      async *stream() {
        for await (const event of await client.messages.create({ ...request, stream: true }))
          if (event.type === "content_block_delta" && event.delta.type === "text_delta")
            yield event.delta.text;
      },
    };
  },
};

export const aiSdk: Client = {
  name: "Vercel AI SDK",
  style: "openai",
  timedOut: /TimeoutError/,
  aborted: /AbortError/,
  open({ url, fetch, timeoutMs, retries = 0 }) {
    const client = { baseURL: `${url}/v1`, fetch, model: MODEL };
    const request = {
      prompt: PROMPT,
      maxRetries: retries,
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    };
    const { generate, stream } = openAiSdk(client);
    return {
      ask: (signal) => generate(signal ? { ...request, abortSignal: signal } : request),
      stream: () => stream(request),
    };
  },
};
