import { ContextKey, type Limiter, fn, useContext, useSignal } from "tidegate";

export const RATE_LIMIT = new ContextKey<Limiter>("rate_limit");
export const SERVICE_URL = new ContextKey<string>("service_url");

/**
 * Embeds one text; a refusal of the service is an error. It knows no rate, and no Redis: whoever provides RATE_LIMIT
 * decides.
 */
export const embed = fn({ rateLimit: RATE_LIMIT }, async function embed(text: string): Promise<number[]> {
  const response = await fetch(useContext(SERVICE_URL), { method: "POST", body: text, signal: useSignal() });
  if (!response.ok) throw new Error(`${String(response.status)} ${response.statusText}`);
  const { embedding } = (await response.json()) as { embedding: number[] };
  return embedding;
});
