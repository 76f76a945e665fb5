import { once } from "node:events";
import type { AddressInfo } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";

/**
 * A real mail server that keeps the messages it receives.
 *
 *   letter   a received message: its envelope recipients, its raw text, and its parsed parts
 */

/** A received message. */
export type Letter = { to: string[]; raw: string; parsed: Email };

/** A running mail server. */
export type MailServer = {
  /** The address of the server, in the form of SMTP_URL. */
  url: string;
  letters: Letter[];
  /** If not null, every recipient is refused with this error. */
  refuse: Error | null;
  /**
   * Waits for the next letter to an address that no earlier call of `next` returned. @throws an Error after `timeoutMs`
   */
  next: (address: string, timeoutMs?: number) => Promise<Letter>;
  /** The number of connections so far. */
  connections: () => number;
  close: () => Promise<void>;
};

const POLL_MS = 20;

/** The longest wait for a mail. A mail takes milliseconds, but the machine may be busy with other tests. */
const PATIENCE_MS = 180_000;

/** An error as smtp-server sends it to a client. */
export const smtpError = (code: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode: code });

/** Starts a mail server on a free port. */
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

/** Returns the first group of a match in both parts of a message. @throws an Error if the parts differ */
const inBothParts = ({ parsed }: Letter, find: RegExp): string => {
  const [text, html] = [parsed.text ?? "", parsed.html ?? ""].map((part) => find.exec(part)?.[1]);
  if (text === undefined || text !== html) throw new Error(`The parts say ${text} and ${html}.`);
  return text;
};

/** The link of a sign-in message. */
export const linkFrom = (letter: Letter): string => inBothParts(letter, /(https?:\/\/[^\s"<]+\/sign-in\/link\/[\w-]+)/);

/** The code of a sign-in message: six digits, or nine or twelve while many wrong codes are entered. */
export const codeFrom = (letter: Letter): string => inBothParts(letter, /(?:>|\s)(\d{6}|\d{9}|\d{12})(?=\s|<)/);

/** Returns as many digits as the code of the message has, but not the code. */
export const wrongOf = (letter: Letter): string => {
  const code = codeFrom(letter);
  return String((Number(code) + 1) % 10 ** code.length).padStart(code.length, "0");
};
