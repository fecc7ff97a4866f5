import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/**
 * The links of built pages that lead nowhere, and what a page would load from another host, as `page: link`. VitePress
 * looks at links in Markdown alone; this looks at anchors, at the navigation, and at the home page too.
 *
 * @param out - The folder of the built site.
 */
export function deadLinks(out: string): string[] {
  const names = readdirSync(out, { recursive: true, encoding: "utf8" });
  const files = new Set(names.map((path) => path.replaceAll("\\", "/")));
  const pages = new Map(
    [...files]
      .filter((file) => file.endsWith(".html"))
      .map((file) => [file, readFileSync(join(out, file), "utf8")]),
  );
  const anchors = new Map(
    [...pages].map(([file, html]) => [file, new Set(valuesOf(html, / id="([^"]*)"/g))]),
  );

  const isDead = (page: string, link: string): boolean => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor = ""] = decodeURI(link).split("#", 2);
    let to = path === "" ? page : posix.join("/", posix.dirname(page), path).slice(1);
    if (path.startsWith("/")) to = path.slice(1);
    if (to === "" || to.endsWith("/")) to += "index.html";
    return !files.has(to) || (anchor !== "" && anchors.get(to)?.has(anchor) !== true);
  };
  return [...pages].flatMap(([page, html]) => {
    const dead = valuesOf(html, /<a [^>]*?href="([^"]*)"/g).filter((link) => isDead(page, link));
    const loaded = valuesOf(html, /<(?:script|img|link|iframe) [^>]*?(?:src|href)="([^"]*)"/g);
    const faults = [...dead, ...loaded.filter((from) => /^([a-z]+:)?\/\//.test(from))];
    return [...new Set(faults)].map((link) => `${page}: ${link}`);
  });
}

function valuesOf(html: string, pattern: RegExp): string[] {
  return [...html.matchAll(pattern)].map(([, value = ""]) => value.replaceAll("&amp;", "&"));
}
