import { readFile, writeFile } from "node:fs/promises";
import { type Behaviour, content, type Provider, startProvider, status, well } from "../reader/provider.ts";
import type { Labels } from "./labels.ts";

/**
 * Recorded answers of a model: a file from which they are replayed, so that what a model adds can be measured without a
 * provider, and again at any time.
 *
 *   answer  what a model said of one text, as JSON; one line of the file
 */

/** One line: the model's answer for one text. `answer` is what it answered, whether or not it keeps to the schema. */
type Answer = { kind: "offer" | "ask"; text: string; model: string; answer: unknown };

/** The answers of a file, by kind and text. */
export type Answers = ReadonlyMap<string, Answer>;

const keyOf = (kind: string, text: string): string => `${kind} ${text}`;

/** Reads a file of recorded answers. */
export const readAnswers = async (file: string): Promise<Answers> => {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line.trim() !== "");
  const answers = lines.map((line): Answer => JSON.parse(line));
  return new Map(answers.map((answer) => [keyOf(answer.kind, answer.text), answer]));
};

/** The labelled offers and asks whose texts were recorded, each as one file. */
export const recordedOnly = (labels: Labels, answers: Answers): Labels => {
  const lines = <L extends { text: string }>(kind: string, files: readonly { lines: readonly L[] }[]): L[] =>
    files.flatMap((file) => file.lines.filter((line) => answers.has(keyOf(kind, line.text))));
  const [offers, asks] = [lines("offer", labels.offers), lines("ask", labels.asks)];
  return {
    offers: offers.length > 0 ? [{ file: "offers", lines: offers }] : [],
    asks: asks.length > 0 ? [{ file: "asks", lines: asks }] : [],
    corpus: [],
    queries: [],
    matches: [],
  };
};

/** Starts a provider that answers as recorded, and 404 for other texts. */
export const startReplay = async (answers: Answers): Promise<Provider> => {
  const provider = await startProvider();
  provider.always((request, response) => {
    if (request.kind === null) return well()(request, response);
    const recorded = answers.get(keyOf(request.kind, request.text ?? ""));
    const behaviour = recorded === undefined ? status(404) : content(JSON.stringify(recorded.answer));
    return behaviour(request, response);
  });
  return provider;
};

/** What is read of a provider's chat completion. */
type Completion = { choices?: { message?: { content?: string | null } }[] };

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
};

/**
 * Starts a provider that passes every request on to another one and keeps its answers.
 * @param options.baseURL the other provider, including the version: "https://api.openai.com/v1"
 * @returns the provider, and `save`, which writes the answers to a file, the last one for each text
 */
export const startRecorder = async (options: {
  baseURL: string;
  apiKey: string;
}): Promise<Provider & { save: (file: string) => Promise<number> }> => {
  const kept = new Map<string, Answer>();
  const passOn: Behaviour = async (request, response) => {
    const answer = await fetch(`${options.baseURL}${request.path.replace(/^\/v1/u, "")}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${options.apiKey}` },
      body: JSON.stringify(request.body),
    });
    const body = await answer.text();
    const said = answer.ok ? (parsed(body) as Completion).choices?.[0]?.message?.content : null;
    const { kind, text } = request;
    // The answer to a request for repair replaces the first answer.
    if (said && kind !== null && text !== null) {
      kept.set(keyOf(kind, text), { kind, text, model: request.body.model ?? "", answer: parsed(said) });
    }
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(body);
  };
  const provider = await startProvider();
  provider.always(passOn);
  const save = async (file: string): Promise<number> => {
    await writeFile(file, [...kept.values()].map((answer) => `${JSON.stringify(answer)}\n`).join(""));
    return kept.size;
  };
  return { ...provider, save };
};
