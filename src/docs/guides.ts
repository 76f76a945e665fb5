import { readFileSync } from "node:fs";
import MarkdownIt from "markdown-it";
import { rootOf } from "../base/address.ts";

/**
 * The guides at /docs, in four groups. A guide is a Markdown file: the first heading is its title, and the first
 * paragraph its purpose. `{base_url}` stands for the address of this service.
 */

/** A part of a guide that can be found and linked to. */
type Section = { title: string; anchor: string; text: string };

/** A rendered guide. */
export type Guide = {
  slug: string;
  /** The heading of its group. */
  group: string;
  title: string;
  /** Plain text. */
  summary: string;
  /** The text below the summary, as HTML. */
  html: string;
  sections: readonly Section[];
};

/** The guides by their readers' aims, in the order of the page /docs. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Use it": ["connect", "person", "agreements", "mail"],
  "Build an agent": ["rest", "deals", "client", "sandbox", "errors", "events", "webhooks", "freshness"],
  "Search and show": ["places", "facets", "show"],
  "Run a market": ["operate", "backup", "moderate", "sql"],
};

const FOLDER = new URL("./guides/", import.meta.url);

/** Read when this module is loaded, so that a missing file stops the start of the process and not a request. */
const SOURCES = Object.entries(GROUPS).flatMap(([group, slugs]) =>
  slugs.map((slug) => ({ slug, group, source: readFileSync(new URL(`${slug}.md`, FOLDER), "utf8") })),
);

/** The anchor of a heading: "Why did an agent get 429?" becomes "why-did-an-agent-get-429". */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");

/** Renders Markdown without HTML: headings get anchors, and blocks of code a button that copies them. */
const rendererFor = (baseUrl: string) => {
  const md = new MarkdownIt({ html: false });
  const { escapeHtml } = md.utils;
  md.renderer.rules["fence"] = (tokens, at) => {
    const { info = "", content = "" } = tokens[at] ?? {};
    // A name may follow the language, by which a test finds the block.
    const language = escapeHtml(info.trim().split(" ")[0] ?? "");
    return `<div class="snippet"><pre><code class="language-${language}">${escapeHtml(content)}</code></pre><button type="button" class="copy" data-copy hidden>Copy</button></div>\n`;
  };
  // A long name breaks after its underscores and dots where a column is narrow.
  md.renderer.rules["code_inline"] = (tokens, at) =>
    `<code>${escapeHtml(tokens[at]?.content ?? "").replaceAll(/(?<=\w)[_.](?=\w)/g, "$&<wbr>")}</code>`;
  md.renderer.rules["heading_open"] = (tokens, at, options, _env, self) => {
    tokens[at]?.attrSet("id", anchorOf(tokens[at + 1]?.content ?? ""));
    return self.renderToken(tokens, at, options);
  };
  md.renderer.rules["link_open"] = (tokens, at, options, _env, self) => {
    const href = String(tokens[at]?.attrGet("href") ?? "");
    // The service may be below a path of its host.
    if (href.startsWith("/")) tokens[at]?.attrSet("href", rootOf(baseUrl) + href);
    return self.renderToken(tokens, at, options);
  };
  return md;
};

const render = (source: string, baseUrl: string): Omit<Guide, "slug" | "group"> => {
  const md = rendererFor(baseUrl);
  const [, title = "", paragraph = "", body = ""] =
    /^# (.+)\n\n([\s\S]+?)\n\n([\s\S]*)$/.exec(source.replaceAll("{base_url}", baseUrl)) ?? [];
  const summary = paragraph.replaceAll("\n", " ");
  const [opening = "", ...parts] = body.split(/^## /m);
  const sections = parts.map((part) => {
    const [heading = "", ...lines] = part.split("\n");
    return { title: heading, anchor: anchorOf(heading), text: lines.join("\n") };
  });
  return {
    title,
    summary,
    html: md.render(body),
    sections: [{ title, anchor: "", text: `${summary}\n${opening}` }, ...sections],
  };
};

/** Renders the guides for the address of a service. */
export const renderGuides = (baseUrl: string): Guide[] =>
  SOURCES.map(({ slug, group, source }) => ({ slug, group, ...render(source, baseUrl) }));
