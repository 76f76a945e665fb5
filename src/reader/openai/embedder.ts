import type { OpenAI } from "openai";
import { z } from "zod";
import { EMBEDDING_DIMENSIONS, type Embedder } from "../extraction.ts";
import { countOutcome, countTokens } from "../usage.ts";
import { callProvider, providerFailure } from "./client.ts";

/**
 * Texts per call: 32 vectors of 512 numbers written in decimal are under 400 KB, within the bound on an answer, and
 * 32 texts of 4,000 code points stay under the 300,000 tokens that OpenAI takes in one call.
 */
export const EMBEDDING_BATCH = 32;

const answerShape = z.object({
  usage: z
    .object({ prompt_tokens: z.number().int().min(0) })
    .nullish()
    .catch(null),
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()).length(EMBEDDING_DIMENSIONS) })),
});

/** @throws when the vector has no direction */
const unitLength = (vector: number[]): number[] => {
  const length = Math.hypot(...vector);
  // All zero, or so large or small that its length is not a number to divide by.
  if (!Number.isFinite(length) || length < Number.MIN_VALUE * 2 ** 52) {
    throw providerFailure("The provider answered with a vector that has no direction.");
  }
  return vector.map((number) => number / length);
};

/**
 * Makes an embedder that asks a model behind an OpenAI-compatible server.
 * Every vector is checked (size, finite numbers, not all zero) and brought to unit length: not every compatible server
 * does so, and a vector shortened by `dimensions` may lack it.
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
      signal,
      async (): Promise<unknown> =>
        client.embeddings.create(
          // Plain numbers: the package would ask for base64, which not every compatible server knows.
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
        // The API refuses an empty input; a space stands for it.
        const batch = texts.slice(start, start + EMBEDDING_BATCH).map((text) => (text.trim() === "" ? " " : text));
        vectors.push(...(await embedBatch(batch, signal)));
      }
      return vectors;
    },
  };
};
