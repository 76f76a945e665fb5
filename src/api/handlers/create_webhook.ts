import { encryptSecret, newWebhookSecret } from "../../webhooks/secrets.ts";
import { callFunction } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";
import { answerOf, type Envelope } from "../response.ts";

/** Makes the secret of a new webhook. The database gets it encrypted, and only this response shows it. */
export const createWebhook: Handler = async (context, call) => {
  const secret = newWebhookSecret();
  const { keys, anyAddress } = context.webhooks;
  const envelope = JSON.parse(
    await callFunction(context, call, "write", async () => ({
      encrypted_secret: encryptSecret(keys, secret, String(call.body["url"])),
      private_allowed: anyAddress,
    })),
  ) as Envelope;
  return answerOf(envelope.status === 201 ? { ...envelope, body: { ...envelope.body, secret } } : envelope, {});
};
