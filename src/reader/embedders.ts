import { createBuiltinEmbedder } from "./embed/embedder.ts";
import type { Meaning } from "./embed/learn.ts";
import type { Embedder } from "./extraction.ts";

/** The default model supports many languages, and its vectors can be shortened to 512 dimensions. */
const DEFAULT_EMBEDDING_MODEL = "text-embedding-3-small";

/** The address and key of a provider, and which of its models to use. */
export type OpenAiSettings = {
  apiKey: string;
  /** Base URL of the API, including the version: "https://api.openai.com/v1". */
  baseURL: string;
  extractionModel?: string | undefined;
  embeddingModel?: string | undefined;
};

/**
 * Creates the embedder of a process: a provider's model if one is configured, otherwise the built-in embedder.
 * @param meaning returns the latest meanings of words, for the built-in embedder
 */
export const createEmbedder = async (
  openai: OpenAiSettings | undefined,
  meaning: () => Meaning | null,
): Promise<Embedder> => {
  if (openai === undefined) return createBuiltinEmbedder(meaning);
  const { createClient } = await import("./openai/client.ts");
  const { createOpenAiEmbedder } = await import("./openai/embedder.ts");
  return createOpenAiEmbedder({
    client: createClient(openai),
    model: openai.embeddingModel ?? DEFAULT_EMBEDDING_MODEL,
  });
};
