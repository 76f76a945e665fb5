import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from "postgraphile/graphql";

/**
 * What an operation may ask for at most. Counted on the document, with its fragments put in where they are used, before
 * anything is planned or run: what is too much costs a walk that ends at the limit.
 */
export const LIMITS = {
  /** The IDE's own look at the schema takes 1,200; a page of ours 400. */
  tokens: 3_000,
  /** A case, its offer, the account, the account's offers and their decisions are nine. */
  depth: 12,
  /** The IDE's own look at the schema nests the types of types. */
  introspectionDepth: 20,
  /**
   * Aliases are fields, and each is planned anew: 240 of them held the process up for 0.4 seconds. Our largest page asks
   * for about a hundred.
   */
  fields: 150,
  /** The IDE's own look at the schema, which plans nothing. */
  introspectionFields: 500,
  /** Rows of one connection. */
  pageSize: 100,
  /** Rows of all connections, those within rows multiplied. */
  rows: 5_000,
  /** Skipped rows are read all the same. */
  offset: 10_000,
  /** Each is a transaction of its own. */
  mutations: 10,
} as const;

/** What a list that is no connection may have: functions bound these by themselves. */
const LIST_ROWS = 10;

type Walk = {
  schema: GraphQLSchema;
  fragments: Map<string, FragmentDefinitionNode>;
  variables: Record<string, unknown>;
  fields: number;
  rows: number;
};

const tooMuch = (message: string, node: ASTNode): GraphQLError =>
  new GraphQLError(message, { nodes: [node], extensions: { code: "bad_request", status: 400 } });

/** The whole number that an argument stands for, or null when there is none. */
const numberOf = (value: ValueNode | undefined, variables: Record<string, unknown>): number | null => {
  if (value?.kind === Kind.INT) return Number(value.value);
  const given = value?.kind === Kind.VARIABLE ? variables[value.name.value] : undefined;
  return typeof given === "number" ? given : null;
};

/** How many rows a field gives for each of its parent's. */
const rowsOf = (walk: Walk, field: FieldNode, typeName: string, isList: boolean): number => {
  const argument = (name: string) =>
    numberOf(field.arguments?.find((given) => given.name.value === name)?.value, walk.variables);
  const size = argument("first") ?? argument("last");
  const skipped = argument("offset") ?? 0;
  if (size !== null && (size < 0 || size > LIMITS.pageSize))
    throw tooMuch(`Ask for at most ${LIMITS.pageSize} rows of ${field.name.value} at once.`, field);
  if (skipped > LIMITS.offset)
    throw tooMuch(`Skip at most ${LIMITS.offset} rows of ${field.name.value}; go on with \`after\`.`, field);
  if (!typeName.endsWith("Connection")) return isList ? (size ?? LIST_ROWS) : 1;
  if (size === null)
    throw tooMuch(`Say how many rows of ${field.name.value} you want: first, at most ${LIMITS.pageSize}.`, field);
  return size;
};

/** How many fields of the root an operation runs, its fragments put in. The walk has made sure that these end. */
const rootFields = (walk: Walk, { selections }: SelectionSetNode): number =>
  selections.reduce((count, selection) => {
    if (selection.kind === Kind.FIELD) return count + 1;
    const inner =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection.selectionSet
        : walk.fragments.get(selection.name.value)?.selectionSet;
    return count + (inner === undefined ? 0 : rootFields(walk, inner));
  }, 0);

const walkSelections = (
  walk: Walk,
  selections: SelectionSetNode,
  typeName: string | null,
  place: { depth: number; times: number; introspects: boolean },
): void => {
  if (place.depth > (place.introspects ? LIMITS.introspectionDepth : LIMITS.depth))
    throw tooMuch(`This goes deeper than ${LIMITS.depth} levels. Ask in two steps.`, selections);
  for (const selection of selections.selections) {
    walk.fields++;
    const most = place.introspects ? LIMITS.introspectionFields : LIMITS.fields;
    if (walk.fields > most)
      throw tooMuch(`This asks for more than ${most} fields. Ask in several requests.`, selection);
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = walk.fragments.get(selection.name.value);
      // A fragment within itself ends at the depth.
      if (fragment)
        walkSelections(walk, fragment.selectionSet, fragment.typeCondition.name.value, {
          ...place,
          depth: place.depth + 1,
        });
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const name = selection.typeCondition?.name.value ?? typeName;
      walkSelections(walk, selection.selectionSet, name, { ...place, depth: place.depth + 1 });
    } else if (selection.selectionSet) {
      const introspects = place.introspects || selection.name.value.startsWith("__");
      const parent = typeName === null ? undefined : walk.schema.getType(typeName);
      const type = isObjectType(parent) ? parent.getFields()[selection.name.value]?.type : undefined;
      const named = type ? getNamedType(type) : undefined;
      const isList = type !== undefined && /^\[/.test(String(type));
      // `nodes` and `edges` repeat the rows of their connection, which were counted there.
      const repeats = typeName?.endsWith("Connection") ?? false;
      const rows = named && isCompositeType(named) && !repeats ? rowsOf(walk, selection, named.name, isList) : 1;
      const times = place.times * rows;
      if (rows > 1) walk.rows += times;
      if (walk.rows > LIMITS.rows)
        throw tooMuch(
          `This asks for up to ${walk.rows} rows; ${LIMITS.rows} is the most. Ask for shorter pages.`,
          selection,
        );
      walkSelections(walk, selection.selectionSet, named?.name ?? null, { depth: place.depth + 1, times, introspects });
    }
  }
};

/** Variables as given, and where one is not given, its default. */
const variablesOf = (operation: OperationDefinitionNode, given: Record<string, unknown>): Record<string, unknown> => {
  const variables = { ...given };
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (variables[variable.name.value] === undefined) variables[variable.name.value] = numberOf(defaultValue, {});
  }
  return variables;
};

/**
 * The operation of a document that is to run.
 * @throws GraphQLError when there is none, or it is not said which
 */
export const operationOf = (document: DocumentNode, name: string | null): OperationDefinitionNode => {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const [operation, ...others] = name === null ? operations : operations.filter((one) => one.name?.value === name);
  if (!operation || others.length > 0)
    throw tooMuch("Say by `operationName` which of the operations is to run.", document);
  return operation;
};

/**
 * Holds an operation against the limits.
 * @throws GraphQLError that says which limit, and what to do
 */
export const checkLimits = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  given: Record<string, unknown>,
): void => {
  const fragments = new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const walk: Walk = { schema, fragments, variables: variablesOf(operation, given), fields: 0, rows: 0 };
  const root = schema.getRootType(operation.operation);
  if (!root) throw tooMuch("There are queries and mutations, and nothing to subscribe to.", operation);
  walkSelections(walk, operation.selectionSet, root.name, { depth: 1, times: 1, introspects: false });
  if (operation.operation === "mutation" && rootFields(walk, operation.selectionSet) > LIMITS.mutations)
    throw tooMuch(`Decide on at most ${LIMITS.mutations} things in one request.`, operation);
};
