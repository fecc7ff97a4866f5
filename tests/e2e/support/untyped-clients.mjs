import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import { createFetch } from "ofetch";

// JavaScript, with types of its own, because those that these packages bring do not compile here: the AI SDK's under
// exactOptionalPropertyTypes, and ofetch's without undici.

export function openAiSdk({ baseURL, fetch, model: name }) {
  const model = createOpenAI({ apiKey: "none", baseURL, fetch })(name);
  return {
    generate: async (request) => (await generateText({ ...request, model })).text,
    stream: (request) => streamText({ ...request, model }).textStream,
  };
}

export function openOfetch(fetch) {
  return createFetch({ fetch, Headers, AbortController });
}
