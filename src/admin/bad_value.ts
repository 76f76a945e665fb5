/** Returns whether PostgreSQL refused a value that a moderator sent, such as an id that is not a UUID (SQLSTATE class 22). */
export const isBadValue = (error: unknown): boolean =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("22");

/** The sentence that the moderator reads. PostgreSQL's own message would reveal details of the database. */
export const BAD_VALUE =
  "A value does not have the form that its type asks for, such as that of an id, a number or a time.";
