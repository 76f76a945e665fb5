import { wordsOfList } from "../rows.ts";

/** Links to somebody at an app: "https://t.me/jonas_bikes". Unlike a handle ("@jonas_bikes"), such a link is a contact. */

const HOSTS = wordsOfList("profile_host");
const PROFILE = new RegExp(`^https?://(?:www\\.)?(?:${HOSTS.join("|").replaceAll(".", "\\.")})/[@\\w.]`, "iu");

/** True if a link leads to somebody at an app. */
export const isProfile = (link: string): boolean => PROFILE.test(link);

const NAMES: ReadonlySet<string> = new Set(wordsOfList("app"));

/** True if a folded word is the name of such an app. */
export const isApp = (word: string): boolean => NAMES.has(word);
