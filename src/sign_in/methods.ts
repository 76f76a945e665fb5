import { SIGN_IN_METHODS, type SignInMethod } from "../base/enums.ts";

/** The sign-in methods and their names on pages. internal.method_name gives the same names in SQL. */

/** Methods in which an OpenID provider identifies the person. */
export type OpenIdMethod = Exclude<SignInMethod, "email">;

const NAMES: Readonly<Record<SignInMethod, string>> = { google: "Google", apple: "Apple", email: "e-mail" };

/** Whether a text is the code of a sign-in method. */
export const isSignInMethod = (text: string | null): text is SignInMethod =>
  SIGN_IN_METHODS.some((method) => method === text);

/** The name of a method inside a sentence. A text that is not a method is returned unchanged. */
export const nameOfMethod = (method: string): string => (isSignInMethod(method) ? NAMES[method] : method);

/** The name of a method as a title, with a capital letter. */
export const titleOfMethod = (method: string): string => {
  const name = nameOfMethod(method);
  return name.charAt(0).toUpperCase() + name.slice(1);
};
