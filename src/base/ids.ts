const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether a text is a UUID. All ids are UUIDs, so for any other text no query is needed. */
export const isId = (text: unknown): text is string => typeof text === "string" && UUID.test(text);
