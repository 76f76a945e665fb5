/** The sign-in methods, as the interface and as people call them. */

export const METHODS = ["google", "apple", "email"] as const;
export type Method = (typeof METHODS)[number];

const NAMES: Record<string, string> = { google: "Google", apple: "Apple", email: "e-mail" };

/** As it stands in a sentence. */
export const nameOfMethod = (method: string): string => NAMES[method] ?? method;

/** As it stands by itself. */
export const titleOfMethod = (method: string): string => {
  const name = nameOfMethod(method);
  return name.charAt(0).toUpperCase() + name.slice(1);
};
