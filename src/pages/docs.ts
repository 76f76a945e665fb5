import type { Response } from "express";
import { DISCOVERY } from "../api/discovery.ts";
import { problem } from "../base/problem.ts";
import { type Guide, renderGuides } from "../docs/guides.ts";
import { makeLlmsTxt, makeServerCard, makeSkill, makeSkillIndex, SKILL_PATH } from "../docs/machine.ts";
import { makeReference, type Operation } from "../docs/reference.ts";
import { find, indexOf, QUERY_LENGTH } from "../docs/search.ts";
import { hashOf } from "./assets.ts";
import type { PagesContext } from "./context.ts";
import type { Page } from "./frame.ts";
import { sendPage } from "./render.ts";

/**
 * The documentation: for people at /docs (guides, reference and a search that needs no script), and for programs that
 * look for llms.txt, skills and the server card.
 */

const NOTHING = problem("not_found", "There is no such page in the documentation. Look for it at /docs.");

/**
 * Returns a function that makes something for a base URL once: the base URL is known only after the server listens, and
 * does not change then.
 */
const oncePerUrl = <Result>(make: (baseUrl: string) => Result): ((baseUrl: string) => Result) => {
  let last: { baseUrl: string; result: Result } | undefined;
  return (baseUrl) => {
    if (last?.baseUrl !== baseUrl) last = { baseUrl, result: make(baseUrl) };
    return last.result;
  };
};

/** Makes the pages of the documentation, and the documents for programs. */
export const docsPages = ({ baseUrl, endpoints }: PagesContext): Page[] => {
  const content = oncePerUrl((url) => {
    const guides = renderGuides(url);
    const reference = makeReference(endpoints, url);
    const operations = new Map(reference.tags.flatMap((tag) => tag.operations.map((one) => [one.id, one])));
    return { guides, reference, operations, entries: indexOf(guides, reference) };
  });

  const page = (path: string, operation: string, get: NonNullable<Page["get"]>): Page => ({
    path,
    operation,
    cache: "public",
    runsScripts: true,
    get,
  });
  const send = (response: Response, template: string, data: object): void => {
    sendPage(response, template, baseUrl(), { query: "", ...data });
  };

  const documentOf = (path: string, operation: string, type: string, make: (url: string) => string): Page => {
    const document = oncePerUrl((url) => {
      const text = make(url);
      return { text, etag: `"${hashOf(text)}"` };
    });
    return {
      // Some clients append a slash to whatever they look for.
      path: `${path}{/}`,
      operation,
      cache: "public",
      get: (_request, response) => {
        const { text, etag } = document(baseUrl());
        response.set("ETag", etag).type(type).send(text);
      },
    };
  };

  return [
    page("/docs", "docsPage", (_request, response) => send(response, "docs", content(baseUrl()))),
    page("/docs/search", "docsSearchPage", (request, response) => {
      const query = String(request.query["q"] ?? "")
        .trim()
        .slice(0, QUERY_LENGTH);
      send(response, "docs_search", { query, results: find(content(baseUrl()).entries, query) });
    }),
    page("/docs/reference", "referencePage", (_request, response) => send(response, "reference", content(baseUrl()))),
    page("/docs/reference/:operation", "operationPage", (request, response) => {
      const found: Operation | undefined = content(baseUrl()).operations.get(String(request.params["operation"]));
      if (found === undefined) throw NOTHING;
      send(response, "operation", found);
    }),
    page("/docs/:guide", "guidePage", (request, response) => {
      const { guides } = content(baseUrl());
      const at = guides.findIndex(({ slug }) => slug === request.params["guide"]);
      const guide: Guide | undefined = guides[at];
      if (guide === undefined) throw NOTHING;
      send(response, "guide", { ...guide, following: guides[at + 1] ?? null });
    }),
    documentOf(DISCOVERY.llms_txt, "llmsTxt", "text/plain", (url) => makeLlmsTxt(endpoints, url)),
    documentOf(DISCOVERY.agent_skills, "agentSkills", "json", makeSkillIndex),
    documentOf(SKILL_PATH, "skill", "text/markdown", makeSkill),
    documentOf(DISCOVERY.server_card, "serverCard", "json", makeServerCard),
  ];
};
