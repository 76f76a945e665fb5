import { createTransport } from "nodemailer";
import { problem } from "../http/problem.ts";
import type { Log } from "../log.ts";
import type { MailSettings } from "../sign_in/settings.ts";

/** A message to one mailbox, in both forms that mail programs show. */
export type Message = { subject: string; text: string; html: string };

/** The mail server. */
export type Mailer = {
  /**
   * Hands a message to the mail server.
   * @param to one address, as the database gives it
   * @param signal gives up when it aborts
   * @throws Problem service_unavailable when the server does not take it now; bad_request when it refuses the address.
   */
  send(to: string, message: Message, signal?: AbortSignal): Promise<void>;
  close(): void;
};

/** A mail server that needs longer to say something is down; a person waits for it. */
const CONNECTION_TIMEOUT_MS = 5_000;
const SILENCE_TIMEOUT_MS = 8_000;
/** Over all, however slowly a server drips. */
const DEADLINE_MS = 12_000;

/** Messages are small and few; more connections only meet the limits of mail servers. */
const CONNECTIONS = 2;

/** How long a person is asked to wait when the mail server is down, in seconds. */
const RETRY_SECONDS = 60;

/** What a failure says without the address, which servers like to repeat. */
const factsOf = (thrown: unknown): Record<string, unknown> => {
  const { code, responseCode, command } = Object(thrown) as Record<string, unknown>;
  return { code, responseCode, command };
};

/** A mail server that has looked at the address and will never take it. */
const isAddressRefused = (thrown: unknown): boolean => {
  const { code, responseCode } = factsOf(thrown);
  return code === "EENVELOPE" && typeof responseCode === "number" && responseCode >= 550 && responseCode <= 553;
};

/** Rejects when the signal aborts. */
const abortion = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const give = () => reject(Object.assign(new Error("given up"), { code: "EGIVENUP" }));
    if (signal.aborted) give();
    else signal.addEventListener("abort", give, { once: true });
  });

/**
 * A mailer that keeps its connections for the next message. Connects when there is something to send.
 * @param stopping ends what is being sent, when the process cannot wait any longer
 */
export const openMailer = ({ smtpUrl, from }: MailSettings, log: Log, stopping: AbortSignal): Mailer => {
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: CONNECTIONS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    greetingTimeout: CONNECTION_TIMEOUT_MS,
    dnsTimeout: CONNECTION_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // Idle connections that the server closes are no failure; without a listener they would end the process.
  transport.on("error", (error) => log.debug(factsOf(error), "a mail connection ended"));

  return {
    async send(to, { subject, text, html }, signal) {
      const end = AbortSignal.any([stopping, AbortSignal.timeout(DEADLINE_MS), ...(signal ? [signal] : [])]);
      // An object, since a text would be parsed as a list of addresses.
      const sent = transport.sendMail({
        from,
        to: { name: "", address: to },
        subject,
        text,
        html,
        // RFC 3834: keeps out-of-office replies away.
        headers: { "Auto-Submitted": "auto-generated" },
      });
      try {
        await Promise.race([sent, abortion(end)]);
      } catch (error) {
        sent.catch(() => {});
        log.warn(factsOf(error), "a mail was not sent");
        if (isAddressRefused(error)) {
          throw problem("bad_request", "The mail server does not know this address. Look for a typing mistake.");
        }
        throw problem(
          "service_unavailable",
          "The mail could not be sent. Nothing is wrong with your address: try again in a minute, or use another way.",
          { retry_after: RETRY_SECONDS },
        );
      }
    },
    close: () => transport.close(),
  };
};
