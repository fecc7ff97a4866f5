import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerTo } from "./http-answers.js";
import { type Allowance, ServiceQuota } from "./quota.js";
import { type HeaderStyle, quotaHeaders, type Quotas } from "./quota-headers.js";

export interface HttpServiceOptions {
  readonly style: HeaderStyle;
  readonly requests: Allowance;
  /** Default: as good as no limit. */
  readonly tokens?: Allowance;
  /** What has to happen before a stream sends its second part. Default: nothing. */
  readonly beforeRest?: Promise<unknown>;
}

/** A stand-in for a hosted API: real HTTP on a free loopback port, with quotas that it keeps by itself. */
export interface HttpService extends AsyncDisposable {
  readonly url: string;
  /** Requests that were served. */
  readonly served: number;
  /** Requests that were answered with 429. */
  readonly refused: number;
}

const PLENTY: Allowance = { perSecond: 1e9, burst: 1e9 };

export async function startHttpService(options: HttpServiceOptions): Promise<HttpService> {
  const service = new Service(options);
  const server = createServer((request, response) => {
    void service.handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    get served() {
      return service.served;
    },
    get refused() {
      return service.refused;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Asked {
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

class Service {
  served = 0;
  refused = 0;
  readonly #options: HttpServiceOptions;
  readonly #quotas: Quotas;

  constructor(options: HttpServiceOptions) {
    this.#options = options;
    this.#quotas = {
      requests: new ServiceQuota(options.requests),
      tokens: new ServiceQuota(options.tokens ?? PLENTY),
    };
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const asked = (text === "" ? {} : JSON.parse(text)) as Asked;
    const { requests, tokens } = this.#quotas;
    const count = asked.max_completion_tokens ?? asked.max_tokens ?? 1;
    const waitMs = Math.max(requests.waitMs(1), tokens.waitMs(count));
    if (waitMs > 0) {
      this.refused += 1;
      response.writeHead(429, this.#headers("application/json", waitMs));
      response.end(JSON.stringify({ error: { type: "rate_limit_error", message: "Too many requests" } }));
      return;
    }
    requests.take(1);
    tokens.take(count);
    this.served += 1;
    const answer = answerTo(request.url ?? "", asked.stream === true);
    if ("json" in answer) {
      response.writeHead(200, this.#headers("application/json", undefined));
      response.end(JSON.stringify(answer.json));
      return;
    }
    const [first, ...rest] = answer.parts;
    response.writeHead(200, this.#headers(answer.type, undefined));
    response.write(first);
    await this.#options.beforeRest;
    response.end(rest.join(""));
  }

  #headers(type: string, waitMs: number | undefined): Record<string, string> {
    return { "content-type": type, ...quotaHeaders(this.#options.style, this.#quotas, waitMs) };
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += String(part);
  return text;
}
