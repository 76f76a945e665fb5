import { addressOf } from "../../base/address.ts";
import { isFromAnotherPage } from "../../base/cookies.ts";
import { problem } from "../../base/problem.ts";
import { hashSecret, newCode, newSecret, newToken } from "../../base/tokens.ts";
import { callFunction } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";
import { jsonAnswer } from "../response.ts";

/** Makes the token, the link and the code of a new agent. The database gets only the hashes of token and link. */
export const connect: Handler = async (context, call) => {
  // Otherwise any page that a person opens could use up the limit of the person's address.
  if (isFromAnotherPage(call.request))
    throw problem(
      "bad_request",
      "A page of another site sent this, so no agent was created. A program sends it itself, without the headers of a browser.",
    );
  const token = newToken();
  const hash = hashSecret(token);
  const secret = newSecret();
  const created = JSON.parse(
    await callFunction(context, call, "write", async () => ({
      token_hash: hash,
      secret_hash: hashSecret(secret),
      code: newCode(),
      address: addressOf(call.request),
      connections_per_hour: context.connectionsPerHour,
    })),
  ) as { connection: object };
  context.database.callers.accept(hash, "shared");
  const body = {
    agent_token: token,
    ...created,
    connection: { url: `${context.baseUrl()}/connect/${secret}`, ...created.connection },
  };
  return jsonAnswer(201, JSON.stringify(body));
};
