import { ANY_BODY, type Endpoint } from "./endpoint.ts";
import { document, read, write } from "./handlers/plain.ts";
import { idPath } from "./schemas/values.ts";

/** The short form in which the files in endpoints/ state their endpoints: what can be derived is left out. */

type Given = "operationId" | "summary" | "description" | "answers";
type Derived = "method" | "path" | "tag" | "body";

/** An endpoint, as its file writes it. */
export type Entry = Pick<Endpoint, Given> &
  Partial<Omit<Endpoint, Given | Derived>> & {
    /** Method and path. If the path contains {id}, the endpoint has that parameter, and can answer not_found. Others are in pathParameters. */
    call: `${"GET" | "POST" | "PATCH" | "DELETE"} ${string}`;
    /** The body is required and at most ANY_BODY long, if nothing else is said. */
    body?: Pick<NonNullable<Endpoint["body"]>, "schema" | "example"> & Partial<Endpoint["body"]>;
    /** For an endpoint whose document TypeScript makes. All others call a function of SQL. */
    document?: Parameters<typeof document>[0];
  };

/** publishOffer calls api.publish_offer. */
const functionOf = (operationId: string): string =>
  operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Completes entries: if they say nothing else, they need a token, and GET reads and all others write. */
export const endpointsOf = (tag: Endpoint["tag"], entries: readonly Entry[]): readonly Endpoint[] =>
  entries.map(({ call, body, document: make, ...entry }) => {
    const [method = "", path = ""] = call.split(" ");
    return {
      method: method.toLowerCase() as Endpoint["method"],
      path,
      tag,
      auth: "token",
      problems: [],
      ...(path.includes("{id}") ? { pathParameters: idPath } : {}),
      ...(body ? { body: { required: true, maxBytes: ANY_BODY, ...body } } : {}),
      ...(make
        ? { handler: document(make) }
        : { handler: method === "GET" ? read : write, function: functionOf(entry.operationId) }),
      ...entry,
    };
  });
