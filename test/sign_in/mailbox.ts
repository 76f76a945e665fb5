import { once } from "node:events";
import type { AddressInfo } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";

/**
 * A real mail server that keeps what it is sent.
 *
 *   letter   a message as it arrived: to whom the envelope says, the raw text, and what a mail program reads in it
 */

export type Letter = { to: string[]; raw: string; parsed: Email };

export type MailServer = {
  /** As SMTP_URL takes it. */
  url: string;
  letters: Letter[];
  /** What it answers to a recipient, where that is not yes. */
  refuse: Error | null;
  /** Waits for the next letter to an address, after the ones that were read by this before. */
  next: (address: string, timeoutMs?: number) => Promise<Letter>;
  /** How often someone has connected. */
  connections: () => number;
  close: () => Promise<void>;
};

const POLL_MS = 20;

/** A mail takes milliseconds; a machine that does ten other things takes its time. */
const PATIENCE_MS = 180_000;

/** A refusal as a mail server puts it. */
export const smtpError = (code: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode: code });

export const startMailServer = async (): Promise<MailServer> => {
  const read = new Set<Letter>();
  let connections = 0;
  const mail: MailServer = {
    url: "",
    letters: [],
    refuse: null,
    next: async (address, timeoutMs = PATIENCE_MS) => {
      const end = Date.now() + timeoutMs;
      for (;;) {
        const letter = mail.letters.find((one) => !read.has(one) && one.to.includes(address));
        if (letter) {
          read.add(letter);
          return letter;
        }
        if (Date.now() > end) throw new Error(`No mail to ${address}.`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onConnect: (_session, callback) => {
      connections += 1;
      callback();
    },
    onRcptTo: (_address, _session, callback) => callback(mail.refuse),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const raw = Buffer.concat(chunks).toString("utf8");
        const to = session.envelope.rcptTo.map(({ address }) => address);
        mail.letters.push({ to, raw, parsed: await PostalMime.parse(raw) });
        callback();
      });
    },
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  mail.url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  return mail;
};

/** What `find` finds in both parts of a message, which must agree. */
const inBothParts = ({ parsed }: Letter, find: RegExp): string => {
  const [text, html] = [parsed.text ?? "", parsed.html ?? ""].map((part) => find.exec(part)?.[1]);
  if (text === undefined || text !== html) throw new Error(`The parts say ${text} and ${html}.`);
  return text;
};

/** The link of a sign-in message. */
export const linkFrom = (letter: Letter): string => inBothParts(letter, /(https?:\/\/[^\s"<]+\/sign-in\/link\/[\w-]+)/);

/** The code of a sign-in message. */
export const codeFrom = (letter: Letter): string => inBothParts(letter, /(?:>|\s)(\d{6})(?=\s|<)/);

/** Six digits that are not the code. */
export const wrongOf = (letter: Letter): string => String((Number(codeFrom(letter)) + 1) % 1_000_000).padStart(6, "0");
