import { type Answer, call } from "./market.ts";

/**
 * A person at a minimal browser, which keeps cookies and sends the form of the last page.
 *
 *   button  the pressed button: the code that the agent shows, "approve" on the page of a client of OAuth, or "decline"
 */

/** A person at a browser. */
export type Person = {
  /** Opens a connection link and presses a button. Returns the resulting page. */
  decide: (link: string, button: string) => Promise<Answer>;
  /** Opens a link without pressing a button. */
  open: (link: string) => Promise<Answer>;
  /** Presses a button of the page that was opened last. @throws an Error if it had no form */
  press: (button: string) => Promise<Answer>;
  /** Sends the form of the page that was opened last with these fields. @throws an Error if it had no form */
  send: (fields: Record<string, string>) => Promise<Answer>;
};

/** @param headers added to every request, as a proxy would add X-Forwarded-For */
export const newPerson = (headers: Record<string, string> = {}): Person => {
  const cookies = new Map<string, string>();
  let shown: { link: string; token: string } | null = null;

  const request = async (link: string, method: string, form?: URLSearchParams): Promise<Answer> => {
    const { origin, pathname } = new URL(link);
    const answer = await call(origin, method, pathname, {
      ...(form ? { raw: form.toString() } : {}),
      headers: {
        ...headers,
        accept: "text/html",
        "sec-fetch-site": form ? "same-origin" : "none",
        ...(form ? { origin, "content-type": "application/x-www-form-urlencoded" } : {}),
        ...(cookies.size > 0 ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") } : {}),
      },
    });
    for (const cookie of (answer.headers["set-cookie"] ?? "").split(/, (?=[\w-]+=)/)) {
      const [, name, value] = /^([\w-]+)=([^;]*)/.exec(cookie) ?? [];
      if (name !== undefined && value !== undefined) cookies.set(name, value);
    }
    return answer;
  };

  const open = async (link: string): Promise<Answer> => {
    const answer = await request(link, "GET");
    const [, token] = /name="token" value="([^"]+)"/.exec(answer.text) ?? [];
    shown = token === undefined ? null : { link, token };
    return answer;
  };
  const send = async (fields: Record<string, string>): Promise<Answer> => {
    if (shown === null) throw new Error("The page that was opened last shows no form.");
    return request(shown.link, "POST", new URLSearchParams({ token: shown.token, ...fields }));
  };
  const press: Person["press"] = (button) =>
    send(["approve", "decline"].includes(button) ? { decision: button } : { code: button });
  return {
    open,
    press,
    send,
    decide: async (link, button) => {
      const page = await open(link);
      return page.status === 200 ? press(button) : page;
    },
  };
};
