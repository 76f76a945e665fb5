/** The sign-in methods, as the interface and as people call them. */

export const METHODS = ["google", "apple", "email"] as const;
export type Method = (typeof METHODS)[number];

const NAMES: Record<string, string> = { google: "Google", apple: "Apple", email: "E-mail" };

export const nameOfMethod = (method: string): string => NAMES[method] ?? method;
