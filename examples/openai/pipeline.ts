import OpenAI from "openai";
import { ContextKey, fn, map, useContext, useSignal } from "tidegate";

export const CLIENT = new ContextKey<OpenAI>("model_client");

/** Most calls in flight at once, at the service and at the budget together. */
export const CONCURRENCY = 300;

const complete = fn(async function complete(prompt: string): Promise<string | undefined> {
  try {
    const { choices } = await useContext(CLIENT).chat.completions.create(
      { model: "local", messages: [{ role: "user", content: prompt }] },
      { signal: useSignal() },
    );
    return choices[0]?.message.content ?? "";
  } catch (error) {
    if (error instanceof OpenAI.RateLimitError) return undefined;
    throw error;
  }
});

/** Asks every prompt; undefined where a 429 came through. */
export function completeAll(prompts: readonly string[]): Promise<(string | undefined)[]> {
  return map(complete, prompts, { concurrency: CONCURRENCY });
}
