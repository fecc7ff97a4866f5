import { posix } from "node:path";
import type { MarkdownRenderer } from "vitepress";
import { DOCS } from "./pages.js";

/** Files of the repository, from docs/, that are pages of the site too. */
const PAGES: Readonly<Record<string, string>> = {
  "../README.md": "/index.md",
  "../CHANGELOG.md": "/changelog.md",
  "../CONTRIBUTING.md": "/contributing.md",
};

/**
 * Treats links out of docs/, which work in the repository only. One to a file that is a page leads there. Any other
 * file has no address on the site: the link becomes its path, in the style of code.
 */
export function leavingLinks(md: MarkdownRenderer): void {
  md.core.ruler.push("leaving-links", ({ tokens, env, Token }) => {
    const folder = posix.relative(DOCS, posix.dirname((env as { path: string }).path));
    for (const block of tokens) {
      const children = block.children ?? [];
      for (
        let at = children.findIndex(isLink);
        at !== -1;
        at = children.findIndex((t, i) => i > at && isLink(t))
      ) {
        const link = children[at];
        const target = posix.join(folder, link?.attrGet("href") ?? "");
        if (!target.startsWith("../")) continue;
        const page = PAGES[target];
        if (page === undefined) {
          const code = new Token("code_inline", "code", 0);
          code.content = target.slice("../".length);
          const end = children.findIndex((token, index) => index > at && token.type === "link_close");
          children.splice(at, end - at + 1, code);
        } else {
          link?.attrSet("href", page);
        }
      }
    }
  });
}

const isLink = ({ type }: { readonly type: string }): boolean => type === "link_open";
