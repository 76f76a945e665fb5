import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname } from "node:path";

/** The files that pages load: stylesheets and scripts of this service, and no others. */

/** A file that pages load. Its hash is part of its URL, so a changed file has a new URL. */
export type Asset = { text: string; type: "css" | "js"; hash: string };

/** A hash of a text, for URLs and ETags. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);

/** Reads a file that pages load. */
export const readAsset = (file: URL): Asset => {
  const text = readFileSync(file, "utf8");
  return { text, type: extname(file.pathname) === ".js" ? "js" : "css", hash: hashOf(text) };
};

const own = (name: string): Asset => readAsset(new URL(name, import.meta.url));

/** The files that pages for people load, by name. */
export const ASSETS = { "souk.css": own("souk.css"), "docs.css": own("docs.css"), "copy.js": own("copy.js") } as const;

/** The path of a file that pages load, below the path of the service. */
export const assetPath = (name: keyof typeof ASSETS): string => `assets/${name}?v=${ASSETS[name].hash}`;
