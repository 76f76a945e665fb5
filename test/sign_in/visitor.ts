/**
 * A browser without JavaScript, over HTTP: it keeps cookies by host, shows one page at a time, sends the forms of that
 * page, and follows redirects.
 *
 *   view   a response with its URL, text and heading
 */

/** A response. */
export type View = {
  url: string;
  status: number;
  headers: Headers;
  text: string;
  /** The text of the page's only h1. */
  heading: string;
};

/** Values of fields. An array is the values of the checked boxes of that name. */
type Fields = Record<string, string | string[]>;

/** A browser without JavaScript. */
export type Visitor = {
  get: (url: string, headers?: Record<string, string>) => Promise<View>;
  post: (url: string, fields: Fields, headers?: Record<string, string>) => Promise<View>;
  /**
   * Sends the form that has a field of this name or a button with this text, with its values, its checked boxes and
   * `fields`. Follows redirects.
   */
  submit: (view: View, holds: string, fields?: Fields) => Promise<View>;
  /** Like submit, but does not follow redirects. */
  send: (view: View, holds: string, fields?: Fields) => Promise<View>;
  follow: (view: View) => Promise<View>;
  /** Cookies by host, then by name. */
  jar: Map<string, Map<string, string>>;
  cookie: (url: string, name: string) => string | undefined;
};

/** More redirects than a sign-in has. Stops endless loops. */
const REDIRECTS = 15;

const unescaped = (text: string): string =>
  text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : unescaped(value);
};

/** The text of a page, without its tags. */
export const wordsOf = ({ text }: View): string =>
  unescaped(
    text
      .replace(/<head>[\s\S]*?<\/head>/, "")
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " "),
  );

type Form = {
  action: string;
  /** The fields with their values. Checkboxes are in `boxes`. */
  fields: Record<string, string>;
  /** The checkboxes. */
  boxes: { name: string; value: string; checked: boolean }[];
  /** The field that each button adds, by the button's text. */
  buttons: Map<string, Record<string, string>>;
  /** The names of the fields and the texts of the buttons. */
  holds: Set<string>;
};

/** The forms of a page. */
export const formsOf = (view: View): Form[] =>
  [...view.text.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)].map(([, head = "", body = ""]) => {
    const fields: Record<string, string> = {};
    const boxes: Form["boxes"] = [];
    const holds = new Set<string>();
    for (const [tag] of body.matchAll(/<input[^>]*>/g)) {
      const name = attribute(tag, "name");
      if (name === undefined) continue;
      if (attribute(tag, "type") === "checkbox") {
        boxes.push({ name, value: attribute(tag, "value") ?? "on", checked: / checked[\s>]/.test(tag) });
        continue;
      }
      if (attribute(tag, "type") === "radio" && !/ checked[\s>]/.test(tag)) continue;
      fields[name] = attribute(tag, "value") ?? "";
      holds.add(name);
    }
    const buttons = new Map<string, Record<string, string>>();
    for (const [tag, words = ""] of body.matchAll(/<button[^>]*>([^<]*)/g)) {
      const name = attribute(tag, "name");
      buttons.set(words.trim(), name === undefined ? {} : { [name]: attribute(tag, "value") ?? "" });
      holds.add(words.trim());
    }
    return { action: new URL(attribute(head, "action") ?? view.url, view.url).href, fields, boxes, buttons, holds };
  });

/** @param address sent in X-Forwarded-For, so that tests do not share the rate limits of an address */
export const newVisitor = (address?: string): Visitor => {
  const jar: Visitor["jar"] = new Map();
  const cookiesOf = (url: string) => {
    const { hostname } = new URL(url);
    const found = jar.get(hostname) ?? new Map<string, string>();
    jar.set(hostname, found);
    return found;
  };

  const request = async (url: string, init: RequestInit & { headers?: Record<string, string> }): Promise<View> => {
    const cookies = cookiesOf(url);
    const answer = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: {
        accept: "text/html",
        ...(address === undefined ? {} : { "x-forwarded-for": address }),
        ...(cookies.size > 0 ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") } : {}),
        ...init.headers,
      },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0\b|expires=thu, 01 jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await answer.text();
    const heading = unescaped((/<h1[^>]*>([\s\S]*?)<\/h1>/.exec(text)?.[1] ?? "").replace(/<[^>]*>/g, ""));
    return { url, status: answer.status, headers: answer.headers, text, heading };
  };

  const visitor: Visitor = {
    jar,
    cookie: (url, name) => cookiesOf(url).get(name),
    get: (url, headers = {}) => request(url, { headers: { "sec-fetch-site": "none", ...headers } }),
    post: (url, fields, headers = {}) =>
      request(url, {
        method: "POST",
        body: new URLSearchParams(
          Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one])),
        ).toString(),
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          origin: new URL(url).origin,
          "sec-fetch-site": "same-origin",
          ...headers,
        },
      }),
    send: (view, holds, fields = {}) => {
      const form = formsOf(view).find((one) => one.holds.has(holds));
      if (!form) throw new Error(`No form holds ${holds} on ${view.url} (${view.status}):\n${wordsOf(view)}`);
      const from = new URL(view.url).origin;
      const site = from === new URL(form.action).origin ? "same-origin" : "cross-site";
      const checked: Fields = {};
      for (const { name, value } of form.boxes.filter((box) => box.checked)) {
        checked[name] = [...(checked[name] ?? []), value];
      }
      return visitor.post(
        form.action,
        { ...form.fields, ...checked, ...form.buttons.get(holds), ...fields },
        { origin: from, "sec-fetch-site": site },
      );
    },
    submit: async (view, holds, fields) => visitor.follow(await visitor.send(view, holds, fields)),
    follow: async (view) => {
      let shown = view;
      for (let steps = 0; steps < REDIRECTS; steps += 1) {
        const location = shown.headers.get("location");
        if (shown.status < 300 || shown.status > 399 || location === null) return shown;
        shown = await visitor.get(new URL(location, shown.url).href);
      }
      throw new Error(`Led in circles, at last to ${shown.url}.`);
    },
  };
  return visitor;
};
