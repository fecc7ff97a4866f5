import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";

// Loaded before a program, it tells on stderr of what the requests of that process come to, in its order, a line each:
// the step, and the URL.

/** fetch hands a request on; a server of the same process has it; that server has answered it to the end. */
export type Step = "sent" | "arrived" | "answered";

interface Sent {
  readonly request: { readonly origin: string; readonly path: string };
}

interface Arrived {
  readonly request: IncomingMessage;
}

function tell(step: Step, url: string): void {
  console.error(`${step} ${url}`);
}

function urlOf({ headers, url }: IncomingMessage): string {
  return `http://${headers.host ?? ""}${url ?? ""}`;
}

subscribe("undici:request:create", (message) => {
  const { origin, path } = (message as Sent).request;
  tell("sent", `${origin}${path}`);
});
subscribe("http.server.request.start", (message) => {
  tell("arrived", urlOf((message as Arrived).request));
});
subscribe("http.server.response.finish", (message) => {
  tell("answered", urlOf((message as Arrived).request));
});
