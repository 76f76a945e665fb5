import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  type InlineFragmentNode,
  isCompositeType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from "postgraphile/graphql";

/**
 * The limits of an operation. They are counted on the document, with its fragments expanded, before anything is planned
 * or executed. So a request over a limit costs only a walk through the document that stops at the limit.
 */
export const LIMITS = {
  /** The IDE's introspection query takes 1,200 tokens. */
  tokens: 3_000,
  /** A case with its offer, account, the account's offers and their decisions has nine levels. */
  depth: 12,
  /** The IDE's introspection query nests types within types. */
  introspectionDepth: 20,
  /**
   * Aliases count as fields, because each is planned anew: 240 of them blocked the process for 0.4 seconds.
   */
  fields: 150,
  /** Fields of the IDE's introspection query, which need no planning. */
  introspectionFields: 500,
  /** Rows of one connection. */
  pageSize: 100,
  /** Rows of all connections together. Rows of nested connections are multiplied by the rows around them. */
  rows: 5_000,
  /** PostgreSQL reads skipped rows, too. */
  offset: 10_000,
  /** Each mutation is a transaction of its own. */
  mutations: 10,
} as const;

/**
 * The rows that are counted for a list without `first` that is not a connection. The SQL functions behind such lists
 * have limits of their own.
 */
const LIST_ROWS = 10;

type Walk = {
  schema: GraphQLSchema;
  fragments: Map<string, FragmentDefinitionNode>;
  variables: Record<string, unknown>;
  fields: number;
  rows: number;
};

const badRequest = (message: string, node: ASTNode): GraphQLError =>
  new GraphQLError(message, { nodes: [node], extensions: { code: "bad_request", status: 400 } });

/** The integer value of an argument, also through a variable; null when there is none. */
const numberOf = (value: ValueNode | undefined, variables: Record<string, unknown>): number | null => {
  if (value?.kind === Kind.INT) return Number(value.value);
  const given = value?.kind === Kind.VARIABLE ? variables[value.name.value] : undefined;
  return typeof given === "number" ? given : null;
};

/** How many rows a field can return for each row of its parent. @throws GraphQLError */
const rowsOf = (walk: Walk, field: FieldNode, typeName: string, isList: boolean): number => {
  const argument = (name: string) =>
    numberOf(field.arguments?.find((given) => given.name.value === name)?.value, walk.variables);
  const size = argument("first") ?? argument("last");
  const skipped = argument("offset") ?? 0;
  if (size !== null && (size < 0 || size > LIMITS.pageSize))
    throw badRequest(`Ask for at most ${LIMITS.pageSize} rows of ${field.name.value} at once.`, field);
  if (skipped > LIMITS.offset)
    throw badRequest(`Skip at most ${LIMITS.offset} rows of ${field.name.value}; go on with \`after\`.`, field);
  if (!typeName.endsWith("Connection")) return isList ? (size ?? LIST_ROWS) : 1;
  if (size === null)
    throw badRequest(`Say how many rows of ${field.name.value} you want: first, at most ${LIMITS.pageSize}.`, field);
  return size;
};

/** The fragment that is used at a place; undefined if the document does not have it. */
const fragmentOf = (walk: Walk, used: FragmentSpreadNode | InlineFragmentNode) =>
  used.kind === Kind.INLINE_FRAGMENT ? used : walk.fragments.get(used.name.value);

/**
 * How many root fields an operation executes, with its fragments expanded. The walk has ruled out endless fragments.
 */
const rootFields = (walk: Walk, { selections }: SelectionSetNode): number =>
  selections.reduce((count, selection) => {
    if (selection.kind === Kind.FIELD) return count + 1;
    const inner = fragmentOf(walk, selection);
    return count + (inner === undefined ? 0 : rootFields(walk, inner.selectionSet));
  }, 0);

const walkSelections = (
  walk: Walk,
  selections: SelectionSetNode,
  typeName: string | null,
  position: { depth: number; times: number; introspects: boolean },
): void => {
  if (position.depth > (position.introspects ? LIMITS.introspectionDepth : LIMITS.depth))
    throw badRequest(`This goes deeper than ${LIMITS.depth} levels. Ask in two steps.`, selections);
  for (const selection of selections.selections) {
    walk.fields++;
    const most = position.introspects ? LIMITS.introspectionFields : LIMITS.fields;
    if (walk.fields > most)
      throw badRequest(`This asks for more than ${most} fields. Ask in several requests.`, selection);
    if (selection.kind !== Kind.FIELD) {
      const fragment = fragmentOf(walk, selection);
      const name = fragment?.typeCondition?.name.value ?? typeName;
      // A fragment that contains itself ends at the depth limit.
      if (fragment) walkSelections(walk, fragment.selectionSet, name, { ...position, depth: position.depth + 1 });
    } else if (selection.selectionSet) {
      const introspects = position.introspects || selection.name.value.startsWith("__");
      const parent = typeName === null ? undefined : walk.schema.getType(typeName);
      const type = isObjectType(parent) ? parent.getFields()[selection.name.value]?.type : undefined;
      const named = type ? getNamedType(type) : undefined;
      const isList = type !== undefined && /^\[/.test(String(type));
      // `nodes` and `edges` return the rows that were counted at their connection.
      const repeats = typeName?.endsWith("Connection") ?? false;
      const rows = named && isCompositeType(named) && !repeats ? rowsOf(walk, selection, named.name, isList) : 1;
      const times = position.times * rows;
      if (rows > 1) walk.rows += times;
      if (walk.rows > LIMITS.rows)
        throw badRequest(
          `This asks for up to ${walk.rows} rows; ${LIMITS.rows} is the most. Ask for shorter pages.`,
          selection,
        );
      walkSelections(walk, selection.selectionSet, named?.name ?? null, {
        depth: position.depth + 1,
        times,
        introspects,
      });
    }
  }
};

/** The variables that the client sent. Those it did not send get their default, if that is an integer. */
const variablesOf = (operation: OperationDefinitionNode, given: Record<string, unknown>): Record<string, unknown> => {
  const variables = { ...given };
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (variables[variable.name.value] === undefined) variables[variable.name.value] = numberOf(defaultValue, {});
  }
  return variables;
};

/**
 * The operation of a document that is to be executed.
 * @param name which of several operations; null when there is only one
 * @throws GraphQLError when there is no such operation, or there are several
 */
export const operationOf = (document: DocumentNode, name: string | null): OperationDefinitionNode => {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const [operation, ...others] = name === null ? operations : operations.filter((one) => one.name?.value === name);
  if (!operation || others.length > 0)
    throw badRequest("Say by `operationName` which of the operations is to run.", document);
  return operation;
};

/**
 * Checks an operation against the limits.
 * @param given the variables that the client sent
 * @throws GraphQLError that names the limit and says what to do
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
  if (!root) throw badRequest("There are queries and mutations, and nothing to subscribe to.", operation);
  walkSelections(walk, operation.selectionSet, root.name, { depth: 1, times: 1, introspects: false });
  if (operation.operation === "mutation" && rootFields(walk, operation.selectionSet) > LIMITS.mutations)
    throw badRequest(`Decide on at most ${LIMITS.mutations} things in one request.`, operation);
};
