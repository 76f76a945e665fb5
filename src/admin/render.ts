import { rootOf } from "../base/address.ts";
import { measured } from "../base/tracing/tracing.ts";
import { visibleName, withUnseenShown } from "../base/visible_text.ts";
import { type Asset, assetPath, readAsset } from "../pages/assets.ts";
import { readTemplates } from "../pages/render.ts";

/** Renders the moderators' pages. */

const ASSETS = new URL("./assets/", import.meta.url);

// Everything that a page shows passes here: nothing that a stranger wrote turns the words around it.
const eta = readTemplates(new URL("./templates/", import.meta.url), withUnseenShown);

/** The files that admin pages load, by name. */
export const ASSET_FILES: Record<string, Asset> = {
  "admin.css": readAsset(new URL("admin.css", ASSETS)),
  "admin.js": readAsset(new URL("admin.js", ASSETS)),
};

/** The queues with the most urgent first, and the name that the pages show for each. */
export const QUEUES: Record<string, string> = {
  appeal: "Appealed",
  pending: "Waiting to go live",
  reported: "Reported",
  reported_conversation: "Conversation reported",
  addresses_agents: "Gives orders to agents",
  suspicious_link: "Hides where a link leads",
  changed: "Changed since it was looked at",
  first_offer: "First of an account",
};

const DECIDED: Record<string, string> = {
  keep: "Kept",
  remove: "Removed",
  restore: "Restored",
  uphold: "Removal upheld",
  publish: "Published",
  reject: "Rejected",
  suspend: "Suspended",
  reinstate: "Reinstated",
  remove_agent: "Removed an agent",
  override_cap: "Changed a cap",
  settle: "Settled the reports of a conversation",
  remove_message: "Removed a message",
};

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** How long ago a moment was, in words: "3 hours ago". */
export const ago = (moment: string, now = Date.now()): string => {
  const seconds = Math.max(0, (now - Date.parse(moment)) / 1_000);
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ["minute", 60];
  return seconds < 60 ? "a moment ago" : relative.format(-Math.floor(seconds / size), unit);
};

/** A moment in UTC to the minute: "2026-05-31 14:03 UTC". */
const exactly = (moment: string): string => `${new Date(moment).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** A code in words: pending_review becomes "pending review". */
const words = (code: string): string => code.replaceAll("_", " ");

/** A piece of a text. `read` is the name of the field that was extracted from it, or null. */
export type Piece = { text: string; read: string | null };

type Found = { value: unknown; quote: string; start: number; end: number; basis: string; confidence: number };

const isFound = (value: unknown): value is Found =>
  typeof value === "object" && value !== null && "quote" in value && "start" in value && "end" in value;

/** The extracted values of an offer as a list, from the extraction as the database stores it. */
export const readingsOf = (extraction: Record<string, unknown>): (Found & { field: string })[] =>
  Object.entries(extraction).flatMap(([field, found]) =>
    (Array.isArray(found) ? found : [found]).filter(isFound).map((one) => ({ ...one, field })),
  );

/** An extracted value on one line. */
export const shownValue = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .filter(([, part]) => part !== null && part !== false)
    .map(([name, part]) => `${words(name)}: ${shownValue(part)}`)
    .join(", ");
};

/**
 * Cuts a text into pieces at the extracted values.
 * @param readings their offsets count code points, zero-based, ends exclusive; of two that overlap, the first counts
 */
export const piecesOf = (text: string, readings: { field: string; start: number; end: number }[]): Piece[] => {
  const characters = Array.from(text);
  const pieces: Piece[] = [];
  let at = 0;
  for (const { field, start, end } of readings.toSorted((a, b) => a.start - b.start)) {
    if (start < at || end > characters.length) continue;
    pieces.push({ text: characters.slice(at, start).join(""), read: null });
    pieces.push({ text: characters.slice(start, end).join(""), read: words(field) });
    at = end;
  }
  pieces.push({ text: characters.slice(at).join(""), read: null });
  return pieces.filter((piece) => piece.text !== "");
};

/** The frame of an admin page. */
export type Frame = {
  baseUrl: string;
  /** The moderator who requests the page. */
  viewer: {
    account_id: string;
    name: string;
    /** What the moderator has to do before deciding; null for nothing. */
    sign_in_obstacle: "add_method" | "sign_in_again" | null;
  };
  /** The CSRF token of the page's forms. */
  token: string;
  /** The path to sign in again and come back to this page. */
  signIn: string;
  /** The name of the page's template, which is the current entry of the navigation if that has the page. */
  template: string;
  /** What was just done. */
  notice?: { text: string; href?: string; link?: string } | undefined;
  /** Why something was not done. */
  fault?: string | undefined;
};

/**
 * Renders an admin page.
 * @param shown its frame, and what its template needs
 * @returns HTML
 */
export const renderAdmin = (shown: Frame): string => {
  const { template } = shown;
  const root = rootOf(shown.baseUrl);
  return measured("render", { name: `render admin ${template}` }, () =>
    eta.render(`@${template}`, {
      ...shown,
      viewer: { ...shown.viewer, name: visibleName(shown.viewer.name) },
      root,
      admin: `${root}/admin`,
      base: `${root}/${assetPath("souk.css")}`,
      asset: (name: string) => `${root}/admin/assets/${name}?v=${ASSET_FILES[name]?.hash ?? ""}`,
      ago,
      exactly,
      words,
      visibleName,
      queueName: (name: string) => QUEUES[name] ?? words(name),
      decided: (action: string) => DECIDED[action] ?? words(action),
    }),
  );
};
