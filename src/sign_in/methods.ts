import { SIGN_IN_METHODS, type SignInMethod } from "../database/enums.ts";

/** The sign-in methods, as the interface and as people call them. Sentences of the database say the same (internal.method_name). */

/** Methods by which another service says who a person is. */
export type OpenIdMethod = Exclude<SignInMethod, "email">;

const NAMES: Readonly<Record<SignInMethod, string>> = { google: "Google", apple: "Apple", email: "e-mail" };

/** Whether a text names a way to sign in. */
export const isSignInMethod = (text: string | null): text is SignInMethod =>
  SIGN_IN_METHODS.some((method) => method === text);

/** As it stands in a sentence; a method that is none as it is. */
export const nameOfMethod = (method: string): string => (isSignInMethod(method) ? NAMES[method] : method);

/** As it stands by itself. */
export const titleOfMethod = (method: string): string => {
  const name = nameOfMethod(method);
  return name.charAt(0).toUpperCase() + name.slice(1);
};
