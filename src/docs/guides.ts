import { readFileSync } from "node:fs";
import MarkdownIt from "markdown-it";
import type { Endpoint } from "../api/endpoint.ts";
import { rootOf } from "../pages/render.ts";

/**
 * The guides at /docs: Markdown files with one screen of text each. The first heading is the title, and the first
 * paragraph says what the guide is for. `{base_url}` stands for the address of this service.
 */

/** A part of a guide that can be found and linked to. */
type Section = { title: string; anchor: string; text: string };

/** A rendered guide. */
export type Guide = {
  slug: string;
  title: string;
  /** Plain text. */
  summary: string;
  /** The text below the summary, as HTML. */
  html: string;
  sections: readonly Section[];
};

/** The guides in the order of the page /docs. A guide that needs an endpoint is shown if the table has it. */
const GUIDES: readonly { slug: string; needs?: string }[] = [
  { slug: "connect" },
  { slug: "rest" },
  { slug: "sandbox" },
  { slug: "places" },
  { slug: "facets" },
  { slug: "show" },
  { slug: "person" },
  { slug: "errors" },
  { slug: "events", needs: "GET /v1/events" },
  { slug: "freshness", needs: "POST /v1/offers/{id}/confirm" },
  { slug: "mail" },
  { slug: "webhooks", needs: "POST /v1/webhooks" },
  { slug: "operate" },
  { slug: "moderate" },
  { slug: "sql" },
];

const FOLDER = new URL("./guides/", import.meta.url);

/** Read when this module is loaded, so that a missing file stops the start of the process and not a request. */
const SOURCES = GUIDES.map(({ slug, needs }) => ({
  slug,
  needs,
  source: readFileSync(new URL(`${slug}.md`, FOLDER), "utf8"),
}));

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
    const language = escapeHtml(info.trim());
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

const render = (slug: string, source: string, baseUrl: string): Guide => {
  const md = rendererFor(baseUrl);
  const [, title = "", summary = "", body = ""] =
    /^# (.+)\n\n(.+)\n\n([\s\S]*)$/.exec(source.replaceAll("{base_url}", baseUrl)) ?? [];
  const [opening = "", ...parts] = body.split(/^## /m);
  const sections = parts.map((part) => {
    const [heading = "", ...lines] = part.split("\n");
    return { title: heading, anchor: anchorOf(heading), text: lines.join("\n") };
  });
  return {
    slug,
    title,
    summary,
    html: md.render(body),
    sections: [{ title, anchor: "", text: `${summary}\n${opening}` }, ...sections],
  };
};

/** Renders the guides for a table of endpoints. */
export const renderGuides = (endpoints: readonly Endpoint[], baseUrl: string): Guide[] => {
  const known = new Set(endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
  return SOURCES.filter(({ needs }) => needs === undefined || known.has(needs)).map(({ slug, source }) =>
    render(slug, source, baseUrl),
  );
};
