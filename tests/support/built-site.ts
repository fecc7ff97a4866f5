import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { ROOT } from "./root.js";

const DIST = join(ROOT, "docs/.vitepress/dist");

/** What the page of the playground is made of. */
const SOURCES = ["docs/playground.md", "docs/.vitepress/theme", "docs/.vitepress/config.ts", "src"];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

/** Builds the site where it is missing, or older than the playground. */
export function buildSite(): void {
  const page = join(DIST, "playground.html");
  if (existsSync(page) && SOURCES.every((path) => newest(join(ROOT, path)) < statSync(page).mtimeMs)) return;
  const { status, stdout, stderr } = spawnSync("npm", ["run", "docs"], { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm run docs has failed:\n${stdout}${stderr}`);
}

/** When the newest file of a tree was changed, in milliseconds. */
function newest(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return readdirSync(path).reduce((most, name) => Math.max(most, newest(join(path, name))), 0);
}

/** Serves the built site on this machine alone. */
export class SiteServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<SiteServer> {
    const server = createServer((request, response) => {
      const file = fileOf(new URL(request.url ?? "/", "http://localhost").pathname);
      if (file === undefined) {
        response.writeHead(404).end();
        return;
      }
      const type = TYPES[extname(file)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type }).end(readFileSync(file));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new SiteServer(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

function fileOf(path: string): string | undefined {
  const file = join(DIST, path);
  return [file, `${file}.html`, join(file, "index.html")].find(
    (one) => existsSync(one) && statSync(one).isFile(),
  );
}
