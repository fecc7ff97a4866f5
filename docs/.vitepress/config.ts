import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { apiSidebar } from "./api-pages.js";
import { deadLinks } from "./dead-links.js";
import { leavingLinks } from "./leaving-links.js";
import { writeLlms } from "./llms.js";
import { GROUPS, pageFaults, titleOf, TOP } from "./pages.js";
import { slugOf } from "./slug.js";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));

const title = "tidegate";
const description = "One rate limit that a whole async pipeline draws from, without passing it around.";

export default defineConfig({
  title,
  description,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/logo.svg" }]],
  vite: {
    // The index of the local search is one file.
    build: { chunkSizeWarningLimit: 2_000 },
    // What the playground runs is the library as it stands here.
    resolve: { alias: [{ find: /^tidegate\/(rate-limit|testing)$/, replacement: `${SOURCES}$1/index.ts` }] },
  },
  markdown: {
    anchor: { slugify: slugOf },
    config: leavingLinks,
  },
  themeConfig: {
    logo: "/logo.svg",
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: TOP.map(({ text, page }) => ({ text, link: `/${page}` })),
    sidebar: {
      "/": GROUPS.map(({ title: text, pages, collapsed }) => ({
        text,
        ...(collapsed === undefined ? {} : { collapsed }),
        items: pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
      })),
      "/api/": apiSidebar(),
    },
  },
  buildEnd: ({ outDir }) => {
    const faults = [...pageFaults(), ...deadLinks(outDir)];
    if (faults.length > 0) throw new Error(`${String(faults.length)} faults:\n${faults.join("\n")}`);
    writeLlms(outDir, title, description);
  },
});
