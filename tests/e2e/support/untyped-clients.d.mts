export interface ModelClient {
  readonly baseURL: string;
  readonly fetch: typeof globalThis.fetch;
  readonly model: string;
}

export interface ModelRequest {
  readonly prompt: string;
  readonly maxRetries: number;
  readonly timeout?: number;
  readonly abortSignal?: AbortSignal;
}

/** The Vercel AI SDK, with its provider for the Responses API of OpenAI. */
export function openAiSdk(client: ModelClient): {
  readonly generate: (request: ModelRequest) => Promise<string>;
  readonly stream: (request: ModelRequest) => AsyncIterable<string>;
};

export interface OfetchRequest {
  readonly method: string;
  readonly body: object;
  readonly retry: number;
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  readonly responseType?: "json" | "stream";
}

/** The client of ofetch: it gives the body of the answer, read as `responseType` says. */
export function openOfetch(
  fetch: typeof globalThis.fetch,
): (url: string, request: OfetchRequest) => Promise<unknown>;
