import type { OpenAI } from "openai";
import { z } from "zod";
import { EMBEDDING_DIMENSIONS, type Embedder } from "../extraction.ts";
import { countOutcome, countTokens } from "../usage.ts";
import { callProvider, providerFailure } from "./client.ts";

/**
 * Texts in one call. 32 vectors of 512 decimal numbers are under 400 KB, which is within the limit of an answer. 32
 * texts of 4,000 code points stay under the 300,000 tokens that OpenAI accepts in one call.
 */
export const EMBEDDING_BATCH = 32;

const answerShape = z.object({
  usage: z
    .object({ prompt_tokens: z.number().int().min(0) })
    .nullish()
    .catch(null),
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()).length(EMBEDDING_DIMENSIONS) })),
});

/** @throws if the vector has no direction */
const unitLength = (vector: number[]): number[] => {
  const length = Math.hypot(...vector);
  // All numbers are zero, or so large or so small that the length cannot be used as a divisor.
  if (!Number.isFinite(length) || length < Number.MIN_VALUE * 2 ** 52) {
    throw providerFailure("The provider answered with a vector that has no direction.");
  }
  return vector.map((number) => number / length);
};

/**
 * Creates an embedder that uses a model behind an OpenAI-compatible server.
 * It checks every vector (dimension, finite numbers, not all zero) and scales it to unit length, because not every
 * compatible server returns unit vectors, in particular if `dimensions` shortens them.
 */
export const createOpenAiEmbedder = (options: { client: OpenAI; model: string }): Embedder => {
  const { client, model } = options;

  const embedBatch = async (input: string[], signal: AbortSignal): Promise<number[][]> => {
    const start = performance.now();
    try {
      const vectors = await askForVectors(input, signal);
      countOutcome(model, "embed", "ok", performance.now() - start);
      return vectors;
    } catch (error) {
      countOutcome(model, "embed", "failed", performance.now() - start);
      throw error;
    }
  };

  const askForVectors = async (input: string[], signal: AbortSignal): Promise<number[][]> => {
    const answer = await callProvider(
      { operation: "embeddings", model },
      signal,
      async (): Promise<unknown> =>
        client.embeddings.create(
          // As numbers: the package would ask for base64, which not every compatible server supports.
          { model, input, dimensions: EMBEDDING_DIMENSIONS, encoding_format: "float" },
          { signal },
        ),
    );
    const parsed = answerShape.safeParse(answer);
    if (!parsed.success) throw providerFailure("The provider's answer does not hold vectors of the right shape.");
    const { data, usage } = parsed.data;
    if (usage) countTokens(model, "embed", { input: usage.prompt_tokens, output: 0 });
    const byIndex = new Map(data.map((entry) => [entry.index, entry.embedding]));
    if (data.length !== input.length || byIndex.size !== input.length) {
      throw providerFailure(`The provider answered with ${data.length} vectors for ${input.length} texts.`);
    }
    return input.map((_, index) => {
      const vector = byIndex.get(index);
      if (vector === undefined) throw providerFailure("The provider's vectors are not numbered as the texts are.");
      return unitLength(vector);
    });
  };

  return {
    model,
    paid: true,
    async embed(texts, signal) {
      const vectors: number[][] = [];
      for (let start = 0; start < texts.length; start += EMBEDDING_BATCH) {
        // The API refuses an empty input, so a space is sent instead.
        const batch = texts.slice(start, start + EMBEDDING_BATCH).map((text) => (text.trim() === "" ? " " : text));
        vectors.push(...(await embedBatch(batch, signal)));
      }
      return vectors;
    },
  };
};
