/** A response, for `settle` and `isShared`: its body is copied only when it is asked for. */
export interface Answer {
  /** The HTTP status, from 200 to 599. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The body as text. The caller of `fetch` gets the whole body all the same. */
  text(): Promise<string>;
  /** The body as JSON. */
  json(): Promise<unknown>;
}

export function answerOf(response: Response): Answer {
  return {
    status: response.status,
    headers: response.headers,
    text: () => response.clone().text(),
    json: () => response.clone().json() as Promise<unknown>,
  };
}
