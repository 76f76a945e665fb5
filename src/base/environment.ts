import { z } from "zod";

/** Schemas for environment variables. */

/** Makes a variable optional. If it is set but empty, as in a copied .env.example, it counts as not set. */
export const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === "" ? undefined : value), schema.optional());

/** Gives a variable a default, for when it is not set or empty. */
export const withDefault = <T extends z.ZodType>(schema: T, value: string) =>
  z.preprocess((given) => (given === undefined || given === "" ? value : given), schema);

/** An http or https URL. Slashes at its end are removed. */
export const httpUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ""));
