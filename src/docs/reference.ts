import type { Endpoint } from "../api/endpoint.ts";
import { openApiDocument } from "../api/openapi.ts";

/** The reference at /docs/reference: the OpenAPI document, prepared for pages. */

// biome-ignore lint/suspicious/noExplicitAny: the parts of an OpenAPI document are read as its specification has them.
type Json = any;

/** A value of a request or a response. */
type Field = { name: string; type: string; required: boolean; description: string };

/** The depth to which members are listed. Deeper ones are in the example, and in the document itself. */
const DEPTH = 4;

/** More values than these are not listed in the type of a field. */
const VALUES = 14;

/** Returns a function that follows references ($ref) inside the document. */
const followerOf =
  (document: Json) =>
  (value: Json): Json => {
    let found = value;
    while (typeof found?.$ref === "string")
      found = found.$ref
        .slice(2)
        .split("/")
        .reduce((part: Json, name: string) => part?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], document);
    return found ?? {};
  };

type Follow = ReturnType<typeof followerOf>;

/** Joins the members of allOf into one schema, and skips a union with null. */
const simplest = (value: Json, follow: Follow): Json => {
  const schema = follow(value);
  const all: Json[] = (schema.allOf ?? []).map((one: Json) => simplest(one, follow));
  if (all.length > 0)
    return {
      ...schema,
      ...Object.assign({}, ...all),
      properties: Object.assign({}, schema.properties, ...all.map((one) => one.properties)),
      required: [schema.required ?? [], ...all.map((one) => one.required ?? [])].flat(),
    };
  const others: Json[] = (schema.anyOf ?? schema.oneOf ?? []).filter((one: Json) => follow(one).type !== "null");
  return others.length === 1 ? { ...simplest(others[0], follow), nullable: true } : schema;
};

const PLURALS: Record<string, string> = { string: "characters", array: "items" };

/** The bounds of a value in words: "1 to 4000 characters". */
const boundsOf = (schema: Json): string => {
  const least = schema.minLength ?? schema.minItems ?? schema.minimum;
  const most = schema.maxLength ?? schema.maxItems ?? schema.maximum;
  const isSafeInteger = Math.abs(most ?? 0) >= Number.MAX_SAFE_INTEGER;
  const unit = [schema.type]
    .flat()
    .map((type) => PLURALS[type] ?? "")
    .join("");
  if (most === undefined || isSafeInteger) return least ? `at least ${least} ${unit}`.trim() : "";
  return `${least === undefined ? "at most" : `${least} to`} ${most} ${unit}`.trim();
};

const typeOf = (value: Json, follow: Follow): string => {
  const schema = simplest(value, follow);
  const orNull = schema.nullable ? " or null" : "";
  if (schema.const !== undefined) return JSON.stringify(schema.const) + orNull;
  if (Array.isArray(schema.enum))
    return schema.enum.slice(0, VALUES).map(String).join(" | ") + (schema.enum.length > VALUES ? " | …" : "") + orNull;
  const several: Json[] = schema.anyOf ?? schema.oneOf ?? [];
  if (several.length > 0) return [...new Set(several.map((one) => typeOf(one, follow)))].join(" or ");
  const types: string[] = [schema.type ?? []].flat();
  if (types.includes("array")) return `array of ${typeOf(schema.items ?? {}, follow)}${orNull}`;
  const name = types.join(" or ") || "any value";
  const bounds = boundsOf(schema);
  return [name, schema.format ? ` (${schema.format})` : "", bounds ? `, ${bounds}` : "", orNull].join("");
};

/**
 * Lists the members of a schema, and the members of these, by their paths. Of several alternatives it lists the members
 * of each; a member is required only if all of them require it.
 */
const fieldsOf = (value: Json, follow: Follow, prefix = "", depth = DEPTH): Field[] => {
  const schema = simplest(value, follow);
  const alternatives: Json[] = schema.anyOf ?? schema.oneOf ?? [];
  if (alternatives.length > 0) {
    const lists = alternatives.map((one) => fieldsOf(one, follow, prefix, depth));
    const isRequired = (name: string) => lists.every((list) => list.some((one) => one.name === name && one.required));
    const byName = new Map(lists.flat().map((field) => [field.name, field]));
    return [...byName.values()].map((field) => ({ ...field, required: isRequired(field.name) }));
  }
  return Object.entries<Json>(schema.properties ?? {}).flatMap(([name, member]) => {
    const plain = simplest(member, follow);
    const field = {
      name: prefix + name,
      type: typeOf(member, follow),
      required: (schema.required ?? []).includes(name),
      description: String(member.description ?? plain.description ?? ""),
    };
    const inner = plain.type === "array" ? plain.items : member;
    const path = `${prefix}${name}${plain.type === "array" ? "[]" : ""}.`;
    return depth > 1 ? [field, ...fieldsOf(inner ?? {}, follow, path, depth - 1)] : [field];
  });
};

/** The example of a body; undefined if it has none. */
const exampleOf = (media: Json, follow: Follow): Json =>
  media?.example ?? follow(Object.values<Json>(media?.examples ?? {})[0])?.value;

/** Returns a path with the names that a command has for the ids in it: /v1/offers/{id} becomes /v1/offers/$OFFER_ID. */
const withNames = (path: string): string =>
  path.replaceAll(
    /(\w+?)(s?)\/\{\w+\}/g,
    (_, thing: string, ending: string) => `${thing}${ending}/$${thing.toUpperCase()}_ID`,
  );

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const curlOf = (method: string, url: string, needsToken: boolean, example: Json): string =>
  [
    `curl -s${method === "GET" || (method === "POST" && example !== undefined) ? "" : ` -X ${method}`} ${url}`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(example === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(example, null, 2))}`]),
  ].join(" \\\n  ");

const operationOf = (document: Json, baseUrl: string, path: string, method: string, about: Json) => {
  const follow = followerOf(document);
  const body = follow(about.requestBody).content?.["application/json"];
  const needsToken = (about.security ?? document.security ?? []).length > 0;
  const responses = Object.entries<Json>(about.responses).map(([status, value]) => ({ status, value: follow(value) }));
  const { operationId: id, summary, description }: Record<string, string> = about;
  return {
    id: String(id),
    tag: String(about.tags[0]),
    method: method.toUpperCase(),
    path,
    summary: String(summary),
    description: String(description),
    needsToken,
    /** A command that makes the call. */
    curl: curlOf(method.toUpperCase(), `${baseUrl}${withNames(path)}`, needsToken, exampleOf(body, follow)),
    parameters: (about.parameters ?? []).map(follow).map(
      ({ name, in: where, schema, ...parameter }: Json): Field => ({
        name,
        type: `${typeOf(schema, follow)}, in the ${where}`,
        required: parameter.required === true,
        description: String(parameter.description ?? follow(schema).description ?? ""),
      }),
    ),
    body: fieldsOf(body?.schema ?? {}, follow),
    responses: responses
      .filter(({ status }) => status < "300")
      .map(({ status, value }) => {
        const media = value.content?.["application/json"];
        const example = exampleOf(media, follow);
        return {
          status,
          description: value.description,
          example: example === undefined ? null : JSON.stringify(example, null, 2),
          fields: fieldsOf(media?.schema ?? {}, follow),
        };
      }),
    problems: responses.flatMap(({ status, value }) =>
      Object.keys(value.content?.["application/problem+json"]?.examples ?? {}).map((code) => ({ code, status })),
    ),
  };
};

/** One call, as its page shows it. */
export type Operation = ReturnType<typeof operationOf>;

/** Makes the reference from the table of endpoints, by way of the OpenAPI document: calls by subject. */
export const makeReference = (endpoints: readonly Endpoint[], baseUrl: string) => {
  const document: Json = openApiDocument(endpoints, baseUrl);
  const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, about]) => operationOf(document, baseUrl, path, method, about)),
  );
  const tags: { name: string; description: string }[] = document.tags;
  return { tags: tags.map((tag) => ({ ...tag, operations: operations.filter((one) => one.tag === tag.name) })) };
};

/** The reference, in the order of the document. */
export type Reference = ReturnType<typeof makeReference>;
