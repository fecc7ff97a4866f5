/** A request that is about to be sent, as `cost` sees it. */
export interface OutgoingRequest {
  /** The address, as it was given. */
  readonly url: string;
  /** In capitals. */
  readonly method: string;
  /** The headers: those of `init`, else those of the request. */
  readonly headers: Headers;
  /** The body as text; "" when there is none, or when it is a stream, which can be read once only. */
  text(): Promise<string>;
  /** The body as JSON; undefined when there is none, or when it is a stream. */
  json(): Promise<unknown>;
}

/** What `fetch` takes as its first argument. */
export type FetchInput = string | URL | Request;

/** What a call of `fetch` was given, and what it means for sending it more than once. */
export class Outgoing implements OutgoingRequest {
  readonly #input: FetchInput;
  readonly #init: RequestInit | undefined;

  constructor(input: FetchInput, init: RequestInit | undefined) {
    this.#input = input;
    this.#init = init;
  }

  get url(): string {
    return this.#request?.url ?? (this.#input as string | URL).toString();
  }

  get method(): string {
    return (this.#init?.method ?? this.#request?.method ?? "GET").toUpperCase();
  }

  get headers(): Headers {
    return new Headers(this.#init?.headers ?? this.#request?.headers);
  }

  /** What ends the call: `init` goes before the request, as in `fetch`; null there means none. */
  get signal(): AbortSignal | undefined {
    return (this.#init?.signal === undefined ? this.#request?.signal : this.#init.signal) ?? undefined;
  }

  async text(): Promise<string> {
    const body = this.#init?.body ?? undefined;
    if (typeof body === "string") return body;
    if (body !== undefined) return isStream(body) ? "" : new Response(body).text();
    return this.#request === undefined ? "" : this.#request.clone().text();
  }

  async json(): Promise<unknown> {
    const text = await this.text();
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  }

  /** Whether the same body can be sent again. A Request is copied before it is sent; a bare stream is gone. */
  get canBeSentAgain(): boolean {
    return !isStream(this.#init?.body);
  }

  /** The arguments for one more sending. */
  arguments(isLast: boolean): [FetchInput, RequestInit | undefined] {
    // A Request loses its body when it is sent, unless `init` has another one.
    const loses = !isLast && (this.#init?.body ?? undefined) === undefined;
    return [(loses ? this.#request?.clone() : undefined) ?? this.#input, this.#init];
  }

  /** By what it can do: clients bring a Request class of their own. */
  get #request(): Request | undefined {
    const input = this.#input;
    return typeof input === "object" && "clone" in input ? input : undefined;
  }
}

/** Anything that is read bit by bit: streams of the platform, of Node, and async iterables. */
function isStream(body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  return "getReader" in body || "pipe" in body || Symbol.asyncIterator in body;
}
