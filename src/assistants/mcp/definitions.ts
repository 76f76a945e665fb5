import { z } from "zod";
import { membersOf } from "../../api/arguments.ts";
import type { Endpoint } from "../../api/endpoint.ts";
import { TOOLS, type Tool } from "./tools.ts";

/**
 * Makes the definitions of tools from the schemas of their endpoints. A client sends all definitions to the model with
 * each request, so they are short: an argument's type, values and meaning, and a limit if a value is likely to exceed
 * it; the names and types of the members that always have a value in a result, without the times, because the model reads the result itself. The
 * complete schemas are in the OpenAPI document, and the service checks arguments against them.
 */

type Json = Record<string, unknown>;

/** A tool with its endpoints. */
export type BoundTool = Tool & {
  /** The endpoint that is called unless an argument chooses another one. */
  main: Endpoint;
  /** The endpoint for each value of the choosing argument, or for each argument of `ids`. */
  choices: ReadonlyMap<string, Endpoint>;
};

/** The argument that stands for the header Idempotency-Key. */
export const KEY_ARGUMENT = "idempotency_key";

/** Returns how the table of tools names an endpoint. */
export const endpointName = ({ method, path }: Endpoint): string => `${method.toUpperCase()} ${path}`;

/** Finds the endpoints of the tools. A tool is left out while the table has no endpoint for it. */
export const bindTools = (endpoints: readonly Endpoint[]): BoundTool[] => {
  const byName = new Map(endpoints.map((endpoint) => [endpointName(endpoint), endpoint]));
  return TOOLS.flatMap((tool) => {
    const choices = new Map(
      Object.entries(tool.select?.endpoints ?? tool.ids ?? {}).flatMap(([value, name]) => {
        const endpoint = byName.get(name);
        return endpoint ? [[value, endpoint] as const] : [];
      }),
    );
    const [first] = choices.values();
    const main = tool.endpoint === undefined ? first : byName.get(tool.endpoint);
    return main ? [{ ...tool, main, choices }] : [];
  });
};

/** Returns the arguments of a tool that an endpoint takes, by where the endpoint takes them from; those of the path without the `id`. */
export const argumentsFor = (tool: Tool, endpoint: Endpoint): { path: string[]; query: string[]; body: string[] } => {
  const offered = (name: string): boolean => !tool.omit?.includes(name);
  return {
    path: Object.keys(endpoint.pathParameters?.shape ?? {}).filter((name) => name !== "id"),
    query: Object.keys(endpoint.query?.shape ?? {}).filter(offered),
    body: membersOf(endpoint).filter(offered),
  };
};

/** Returns the JSON Schema of what a client sends or gets, without references. */
const schemaOf = (schema: z.ZodType): Json => {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json & {
    $defs?: Record<string, Json>;
  };
  const inlined = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inlined);
    if (typeof value !== "object" || value === null) return value;
    const { $ref, ...rest } = value as Json;
    const named = typeof $ref === "string" ? $defs[$ref.replace("#/$defs/", "")] : undefined;
    return Object.fromEntries(Object.entries({ ...named, ...rest }).map(([name, member]) => [name, inlined(member)]));
  };
  return inlined(root) as Json;
};

/** Returns the alternatives of a schema; most have only themselves. */
const optionsOf = (schema: Json): Json[] =>
  ((schema["anyOf"] ?? schema["oneOf"]) as Json[] | undefined)?.flatMap(optionsOf) ?? [schema];

const typeOf = (options: readonly Json[]): unknown => {
  const types = [...new Set(options.flatMap(({ type }) => (type === undefined ? [] : (type as string | string[]))))];
  return types.length > 1 ? types : types[0];
};

const propertiesOf = (schema: Json): [string, Json][] =>
  Object.entries((schema["properties"] as Record<string, Json> | undefined) ?? {});

/** Limits that a value is likely to exceed. */
const LIMITS = ["maximum", "maxLength", "maxItems"] as const;

/**
 * Returns the short form of an argument's schema. Only arguments, not their members, have limits and the schema's
 * description.
 * @param path where it is among the arguments, for its hint
 */
const argumentSchema = (schema: Json, path: string, hints: Readonly<Record<string, string>> = {}): Json => {
  const options = optionsOf(schema).filter(({ type }) => type !== "null");
  const values = options.flatMap((option) => option["enum"] ?? []);
  const limits = path.includes(".") ? [] : LIMITS;
  const short: Json = { type: typeOf(options) };
  for (const option of options) {
    const properties = propertiesOf(option);
    if (properties.length > 0)
      short["properties"] = Object.fromEntries(
        properties.map(([name, member]) => [name, argumentSchema(member, `${path}.${name}`, hints)]),
      );
    if (option["items"] !== undefined) short["items"] = argumentSchema(option["items"] as Json, `${path}.[]`);
    for (const limit of limits) if (option[limit] !== undefined) short[limit] = option[limit];
  }
  if (values.length > 0) short["enum"] = values;
  const description = hints[path] ?? (path.includes(".") ? undefined : schema["description"]);
  return description === undefined ? short : { ...short, description };
};

/** Returns the arguments of a tool that come from one endpoint, as properties of a JSON Schema. */
const argumentsFrom = (tool: Tool, endpoint: Endpoint): { properties: Record<string, Json>; required: string[] } => {
  const { path, query, body } = argumentsFor(tool, endpoint);
  const sources = [
    ...(endpoint.query ? [{ schema: schemaOf(endpoint.query), names: query }] : []),
    ...(endpoint.body ? [{ schema: schemaOf(endpoint.body.schema), names: body }] : []),
  ];
  const properties: Record<string, Json> = Object.fromEntries(
    path.map((name) => [name, argumentSchema({ type: "string" }, name, tool.hints)]),
  );
  const required: string[] = [];
  for (const { schema, names } of sources) {
    for (const [name, member] of propertiesOf(schema))
      if (names.includes(name)) properties[name] = argumentSchema(member, name, tool.hints);
    required.push(...((schema["required"] as string[] | undefined) ?? []).filter((name) => names.includes(name)));
  }
  if (endpoint.idempotent) properties[KEY_ARGUMENT] = argumentSchema({ type: "string" }, KEY_ARGUMENT, tool.hints);
  return { properties, required };
};

/** Adds the arguments of another endpoint: a value may be any that one of the endpoints takes. */
const mergeArguments = (into: Record<string, Json>, other: Record<string, Json>): void => {
  for (const [name, schema] of Object.entries(other)) {
    const known = into[name];
    const values = [...new Set([known, schema].flatMap((one) => (one?.["enum"] as string[] | undefined) ?? []))];
    into[name] = { ...known, ...schema, ...(values.length > 0 ? { enum: values } : {}) };
  }
};

const inputSchemaOf = (tool: BoundTool): Json => {
  const properties: Record<string, Json> = {};
  const add = (name: string, schema: Json): void => {
    properties[name] = argumentSchema(schema, name, tool.hints);
  };
  for (const name of tool.id ? [tool.id] : Object.keys(tool.ids ?? {})) add(name, { type: "string" });
  if (tool.select) add(tool.select.argument, { type: "string", enum: [...tool.choices.keys()] });
  const required = [
    ...(tool.id ? [tool.id] : []),
    ...(tool.select && tool.endpoint === undefined ? [tool.select.argument] : []),
  ];
  for (const endpoint of new Set([tool.main, ...tool.choices.values()])) {
    const from = argumentsFrom(tool, endpoint);
    mergeArguments(properties, from.properties);
    if (endpoint === tool.main) required.push(...from.required);
  }
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
};

const outputSchemaOf = (tool: BoundTool): Json => {
  const shapes = [...new Set([tool.main, ...tool.choices.values()])].flatMap((endpoint) => {
    const [answer] = Object.values(endpoint.answers);
    return answer?.schema ? optionsOf(schemaOf(answer.schema)) : [];
  });
  const members = shapes.map((shape) => new Map(propertiesOf(shape)));
  const always = (shapes[0]?.["required"] as string[] | undefined) ?? [];
  const typesOf = (name: string) => members.flatMap((of) => optionsOf(of.get(name) ?? {}));
  const named = always.filter(
    (name) =>
      shapes.every((shape) => (shape["required"] as string[]).includes(name)) &&
      typesOf(name).every(({ type, format }) => type !== "null" && format !== "date-time"),
  );
  return {
    type: "object",
    properties: Object.fromEntries(named.map((name) => [name, { type: typeOf(typesOf(name)) }])),
  };
};

/** Returns the definition of a tool, as tools/list names it. */
export const definitionOf = (tool: BoundTool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: inputSchemaOf(tool) as { type: "object" } & Json,
  outputSchema: outputSchemaOf(tool) as { type: "object" } & Json,
  annotations: tool.annotations,
});
