import { slugOf } from "../../docs/.vitepress/slug.js";

/** A fenced block of a Markdown document. */
export interface Block {
  /** What stands behind the opening fence; empty when nothing does. */
  readonly language: string;
  /** The line of the first line of `text`, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface Heading {
  readonly level: number;
  readonly text: string;
  /** What a link to it names behind the `#`. */
  readonly anchor: string;
}

export interface Link {
  readonly line: number;
  readonly target: string;
}

/** The parts of a Markdown document that the tests look at. What stands in a fenced block is no heading and no link. */
export interface Markdown {
  readonly blocks: readonly Block[];
  readonly headings: readonly Heading[];
  readonly links: readonly Link[];
}

/** @throws Error for a fence that is not closed: all that follows it would be taken for code. */
export function parseMarkdown(text: string): Markdown {
  const blocks: Block[] = [];
  const prose: [text: string, line: number][] = [];
  let open: { readonly indent: number; readonly fence: string; readonly language: string } | undefined;
  let inside: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const {
      indent = "",
      fence = "",
      info = "",
    } = /^(?<indent> *)(?<fence>`{3,}|~{3,})(?<info>.*)$/.exec(line)?.groups ?? {};
    if (open === undefined) {
      if (fence === "") prose.push([line, index + 1]);
      else open = { indent: indent.length, fence, language: info.trim() };
    } else if (fence.startsWith(open.fence) && info.trim() === "") {
      blocks.push({
        language: open.language,
        line: index + 1 - inside.length,
        text: inside.map((code) => `${code}\n`).join(""),
      });
      open = undefined;
      inside = [];
    } else {
      inside.push(line.slice(Math.min(open.indent, line.search(/\S|$/))));
    }
  }
  if (open !== undefined) throw new Error(`a fence "${open.fence}${open.language}" is not closed`);
  return { blocks, headings: headingsOf(prose), links: linksOf(prose) };
}

function headingsOf(prose: readonly (readonly [string, number])[]): Heading[] {
  const used = new Map<string, number>();
  return prose.flatMap(([line]) => {
    const found = /^(#{1,6}) +(.*?) *#*$/.exec(line);
    if (found === null) return [];
    const [, marks = "", text = ""] = found;
    const slug = slugOf(text);
    const times = used.get(slug) ?? 0;
    used.set(slug, times + 1);
    return [{ level: marks.length, text, anchor: times === 0 ? slug : `${slug}-${String(times)}` }];
  });
}

function linksOf(prose: readonly (readonly [string, number])[]): Link[] {
  return prose.flatMap(([text, line]) => {
    const withoutCode = text.replace(/`[^`]*`/g, "");
    const inline = [...withoutCode.matchAll(/\]\(<?([^)\s>]*)>?(?: +"[^"]*")?\)/g)];
    const reference = /^\[[^\]]+\]: *(\S+)/.exec(withoutCode);
    const targets = [...inline.map(([, target]) => target), reference?.[1]];
    return targets.flatMap((target) => (target === undefined ? [] : [{ line, target }]));
  });
}
