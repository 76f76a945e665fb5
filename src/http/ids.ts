const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether a text is a UUID. No row has any other id, so the database need not be asked. */
export const isId = (text: unknown): text is string => typeof text === "string" && UUID.test(text);
