import { createBuiltinEmbedder } from "./builtin/embedder.ts";
import type { Embedder } from "./extraction.ts";
import { createClient } from "./openai/client.ts";
import { createOpenAiEmbedder } from "./openai/embedder.ts";

/** Reads many languages and can be shortened to 512 numbers. */
const DEFAULT_EMBEDDING_MODEL = "text-embedding-3-small";

/** Where the provider is and which of its models to use. */
export type OpenAiSettings = {
  apiKey: string;
  /** Where its API starts, with the version: "https://api.openai.com/v1". */
  baseURL: string;
  extractionModel?: string | undefined;
  embeddingModel?: string | undefined;
};

/** Chooses who embeds: a provider's model when one is configured, else the built-in embedder. */
export const createEmbedder = (openai: OpenAiSettings | undefined): Embedder =>
  openai === undefined
    ? createBuiltinEmbedder()
    : createOpenAiEmbedder({ client: createClient(openai), model: openai.embeddingModel ?? DEFAULT_EMBEDDING_MODEL });
