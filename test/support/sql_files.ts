import { fileURLToPath } from "node:url";

/** The folder db. */
export const DB = fileURLToPath(new URL("../../db", import.meta.url));
