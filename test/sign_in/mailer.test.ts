import { createServer, type Socket } from "node:net";
import test from "ava";
import { createLog } from "../../src/base/log.ts";
import { openMailer } from "../../src/mail/mailer.ts";
import { allowed } from "../support/busy.ts";
import { freePort } from "../support/postgres.ts";
import { listenOn } from "../support/raw_server.ts";
import { smtpError, startMailServer } from "./mailbox.ts";

/** Tests sending messages to mail servers, most of which misbehave. */

const MESSAGE = { subject: "Hello", text: "Text", html: "<p>HTML</p>" };
const TO = "lena@example.com";

const silent = createLog("silent");

type Teardown = { teardown: (clean: () => Promise<void> | void) => void };

const mailerFor = (t: Teardown, smtpUrl: string, stopping = new AbortController().signal) => {
  const mailer = openMailer({ smtpUrl, from: "Souk <souk@souk.example>" }, silent, stopping);
  t.teardown(() => mailer.close());
  return mailer;
};

/** Starts a TCP server that treats each connection as the test says. Returns its SMTP_URL. */
const listening = async (t: Teardown, serve: (socket: Socket) => void): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  const closeAllConnections = () => sockets.forEach((socket) => void socket.destroy());
  return `smtp://127.0.0.1:${await listenOn(t, Object.assign(server, { closeAllConnections }))}`;
};

const took = async (work: Promise<unknown>): Promise<{ thrown: unknown; ms: number }> => {
  const start = Date.now();
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  return { thrown, ms: Date.now() - start };
};

const UNAVAILABLE = { code: "service_unavailable", members: { retry_after: 60 } } as const;

test("a message has a text and an HTML part and the right sender, and connections are reused", async (t) => {
  const server = await startMailServer();
  t.teardown(server.close);
  const mailer = mailerFor(t, server.url);
  for (let times = 0; times < 3; times += 1) await mailer.send(TO, MESSAGE);
  t.is(server.connections(), 1);
  const { parsed, to } = await server.next(TO);
  t.deepEqual(to, [TO]);
  t.like(parsed, {
    subject: "Hello",
    text: "Text\n",
    html: "<p>HTML</p>\n",
    from: { name: "Souk", address: "souk@souk.example" },
  });
  t.is(parsed.headers.find(({ key }) => key === "auto-submitted")?.value, "auto-generated");
});

test("nothing is sent if the recipient is more than one address", async (t) => {
  const server = await startMailServer();
  t.teardown(server.close);
  const mailer = mailerFor(t, server.url);
  // Addresses are checked before they reach the mailer. The mailer is a second line of defence.
  for (const to of [
    `${TO}, eve@evil.example`,
    `${TO}\r\nBcc: eve@evil.example`,
    `${TO}>\r\nRCPT TO:<eve@evil.example`,
  ]) {
    await t.throwsAsync(mailer.send(to, MESSAGE), { any: true }, to);
  }
  t.deepEqual(server.letters, []);
});

test("a server that is missing, hangs up or is too busy gives an error at once", async (t) => {
  const gone = `smtp://127.0.0.1:${await freePort()}`;
  const closing = await listening(t, (socket) => socket.destroy());
  const busy = await listening(t, (socket) => socket.end("421 too busy\r\n"));
  for (const url of [gone, closing, busy, "smtp://no-such-host.invalid"]) {
    const { thrown, ms } = await took(mailerFor(t, url).send(TO, MESSAGE));
    t.like(thrown, UNAVAILABLE, url);
    t.true(ms < allowed(8_000), url);
  }
});

test("the mailer gives up on a silent or very slow server within seconds", async (t) => {
  const mute = await listening(t, () => {});
  const dripping = await listening(t, (socket) => {
    socket.write("220 mail.example ESMTP\r\n");
    socket.once("data", () => {
      const timer = setInterval(() => socket.write("250-slow\r\n"), 500);
      socket.once("close", () => clearInterval(timer));
    });
  });
  const results = await Promise.all([mute, dripping].map((url) => took(mailerFor(t, url).send(TO, MESSAGE))));
  for (const { thrown, ms } of results) {
    t.like(thrown, UNAVAILABLE);
    t.true(ms < allowed(14_000), String(ms));
  }
});

test("stopping the service or aborting the caller ends the wait for a server", async (t) => {
  const mute = await listening(t, () => {});
  const stop = new AbortController();
  const leave = new AbortController();
  const results = Promise.all([
    took(mailerFor(t, mute, stop.signal).send(TO, MESSAGE)),
    took(mailerFor(t, mute).send(TO, MESSAGE, leave.signal)),
    took(mailerFor(t, mute).send(TO, MESSAGE, AbortSignal.abort())),
  ]);
  stop.abort();
  leave.abort();
  for (const { thrown, ms } of await results) {
    t.like(thrown, UNAVAILABLE);
    t.true(ms < allowed(2_000));
  }
});

test("a permanent refusal of a recipient is a bad_request, a temporary one a service_unavailable", async (t) => {
  const server = await startMailServer();
  t.teardown(server.close);
  const mailer = mailerFor(t, server.url);
  for (const [code, refused] of [
    [501, "bad_request"],
    [550, "bad_request"],
    [553, "bad_request"],
    [450, "service_unavailable"],
    [452, "service_unavailable"],
  ] as const) {
    server.refuse = smtpError(code, `${TO} is refused`);
    const { thrown } = await took(mailer.send(TO, MESSAGE));
    t.like(thrown, { code: refused });
    t.false(JSON.stringify(thrown).includes(TO));
  }
  server.refuse = null;
  await mailer.send(TO, MESSAGE);
  t.is(server.letters.length, 1, "the next message is sent");
});
