const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text can be the id of something: what cannot is not found, without asking the database. */
export const isId = (text: unknown): text is string => typeof text === "string" && UUID.test(text);
