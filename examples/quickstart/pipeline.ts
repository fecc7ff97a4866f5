import { ContextKey, type Limiter, fn, map, useContext, useSignal } from "tidegate";
import type { Service } from "../support/service.js";
import type { Chunk } from "./chunks.js";

export const RATE_LIMIT = new ContextKey<Limiter>("rate_limit");
export const SERVICE = new ContextKey<Service>("service");

export interface Embedded extends Chunk {
  /** Undefined where the service answered 429. */
  readonly embedding: number[] | undefined;
}

const embedChunk = fn(async function embedChunk(chunk: Chunk): Promise<Embedded> {
  await useContext(RATE_LIMIT).acquire();
  const { url } = useContext(SERVICE);
  const response = await fetch(url, { method: "POST", body: chunk.text, signal: useSignal() });
  const answer = (await response.json()) as { embedding?: number[] };
  return { ...chunk, embedding: answer.embedding };
});

/** Embeds every chunk. It knows no rate: whoever provides RATE_LIMIT decides. */
export function embedAll(chunks: readonly Chunk[]): Promise<Embedded[]> {
  return map(embedChunk, chunks);
}
