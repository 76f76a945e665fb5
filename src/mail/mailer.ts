import type { Transporter } from "nodemailer";
import type { Log } from "../base/log.ts";
import { problem } from "../base/problem.ts";

/** The URL of the mail server, and the sender of messages. */
export type MailSettings = Readonly<{ smtpUrl: string; from: string }>;

/** A message to one e-mail address, as plain text and as HTML. */
export type Message = {
  subject: string;
  text: string;
  html: string;
  /** Its Message-ID without brackets, if the message may have to be sent again. */
  id?: string;
  /** The URL at which a mail program stops messages of this kind with one POST (RFC 8058). */
  stop?: string;
};

/** Sends messages through the mail server. */
export type Mailer = {
  /**
   * Hands a message to the mail server.
   * @param to one e-mail address, as the database returns it
   * @param signal when it aborts, the message is given up
   * @throws Problem service_unavailable when the server does not take the message now, or the message is given up;
   * bad_request when the server refuses the address
   */
  send(to: string, message: Message, signal?: AbortSignal): Promise<void>;
  /** Closes the connections to the mail server. */
  close(): void;
};

/**
 * A mail server that does not respond within these times counts as down. The times are short because a person waits.
 */
const CONNECTION_TIMEOUT_MS = 5_000;
const SILENCE_TIMEOUT_MS = 8_000;
/** The time limit for one message. Without it, a server that sends a byte now and then could delay it forever. */
const DEADLINE_MS = 12_000;

/** Messages are small and few. More connections would only hit the limits of mail servers. */
const CONNECTIONS = 2;

/** The Retry-After when the mail server is down, in seconds. */
const RETRY_SECONDS = 60;

/**
 * The parts of an error that may be logged. The error's message is left out, because servers often repeat the e-mail
 * address in it.
 */
const factsOf = (thrown: unknown): Record<string, unknown> => {
  const { code, responseCode, command } = Object(thrown) as Record<string, unknown>;
  return { code, responseCode, command };
};

/**
 * Whether the mail server has refused the address permanently: as unknown or malformed (501), such as a..b@example.org.
 */
const isAddressRefused = (thrown: unknown): boolean => {
  const { code, responseCode } = factsOf(thrown);
  return (
    code === "EENVELOPE" &&
    typeof responseCode === "number" &&
    (responseCode === 501 || (responseCode >= 550 && responseCode <= 553))
  );
};

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const abandon = () => reject(Object.assign(new Error("given up"), { code: "EGIVENUP" }));
    if (signal.aborted) abandon();
    else signal.addEventListener("abort", abandon, { once: true });
  });

/**
 * Makes a mailer. It connects when there is a message to send, and keeps its connections for the next one.
 * @param stopping when it aborts, messages in progress are given up, because the process cannot wait any longer
 */
export const openMailer = ({ smtpUrl, from }: MailSettings, log: Log, stopping: AbortSignal): Mailer => {
  const open = async (): Promise<Transporter> => {
    // Imported only here, because the modules are many and most processes send no mail.
    const { createTransport } = await import("nodemailer");
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
    // An idle connection that the server closes is not a failure. Without a listener its error would end the process.
    transport.on("error", (error) => log.debug(factsOf(error), "a mail connection ended"));
    return transport;
  };
  let transport: Promise<Transporter> | undefined;

  return {
    async send(to, { subject, text, html, id, stop }, signal) {
      const end = AbortSignal.any([stopping, AbortSignal.timeout(DEADLINE_MS), ...(signal ? [signal] : [])]);
      // The address is an object, because nodemailer would parse a string as a list of addresses.
      transport ??= open();
      const sent = (await transport).sendMail({
        from,
        to: { name: "", address: to },
        subject,
        text,
        html,
        // RFC 3834: prevents out-of-office replies.
        headers: {
          "Auto-Submitted": "auto-generated",
          ...(stop === undefined
            ? {}
            : { "List-Unsubscribe": `<${stop}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
        },
        ...(id === undefined ? {} : { messageId: `<${id}>` }),
      });
      try {
        await Promise.race([sent, rejectOnAbort(end)]);
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
    close: () => void transport?.then((opened) => opened.close()),
  };
};
