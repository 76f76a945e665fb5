import { generateKeyPairSync } from "node:crypto";
import test from "ava";
import { newSecret } from "../../src/base/tokens.ts";
import { readConfig } from "../../src/config.ts";
import { accountMessage, approvalMessage, message } from "../../src/mail/messages.ts";
import { safeReturnPath } from "../../src/pages/return_path.ts";
import { CODE_LENGTHS, codeHash, codeOf, openIdSecrets, sessionSecret } from "../../src/sign_in/flow.ts";

/** Tests the small rules of signing in, without a service. */

const LINK = "lZq4eJ9mX2v7Yw0bTnKcRsUdGfHiPaQo1E3r5t8u6yA";
const OFFER = "/offers/019a0000-0000-7000-8000-00000000000a";

test("a return path may be a page of the service that needs a session or shows more with one", (t) => {
  for (const path of [
    "/settings",
    "/settings/methods",
    "/settings/activity?cursor=abc-_%3D",
    "/admin",
    "/admin/offers/019a0000-0000-7000-8000-000000000000",
    `/connect/${LINK}`,
    `/verify/${"0a".repeat(32)}`,
    OFFER,
    `/offers/${OFFER.slice(-36).toUpperCase()}`,
  ]) {
    t.is(safeReturnPath(path), path);
  }
});

test("any other return path is replaced by the settings page", (t) => {
  for (const path of [
    ...[undefined, null, ["/settings"], { toString: () => "/settings/methods" }, "", "/", "/sign-out", "/v1/me"],
    ...["//evil.example", "//evil.example/settings", "///evil.example", "/\\evil.example", "\\\\evil.example"],
    ...["https://evil.example/settings", "https:evil.example", "javascript:alert(1)", "data:text/html,x"],
    ...["/settings\\..\\..", "/settings/../../evil", "/settings/..//evil.example", "/settings//evil.example"],
    ...["/settings/%2e%2e/%2e%2e/evil", "/%2f%2fevil.example", "/settings%0d%0aSet-Cookie:%20a=b", "／settings"],
    ...[
      "/settings\r\nSet-Cookie: a=b",
      "/settings\n",
      "/settings\t/methods",
      " /settings",
      "/settings ",
      "/settings\0",
    ],
    ...["/settings#//evil.example", "/settings@evil.example", "/settings.evil.example", "/settingsx"],
    ...["/settings?next=//evil.example", "/sign-in?return=//evil.example", `/settings/${"a".repeat(500)}`],
    ...["/connect/short", `/connect/${LINK}/more`, `/connect/${LINK}?x=1`, `/verify/${LINK}/../../settings`],
    ...["/offers", "/offers/", "/offers/x", "/offers/../settings", `/offers/${LINK}`, OFFER.slice(0, -1)],
    ...["0", "/", "/more", "/../../evil", "?done=reported", "#more", "\n", "%0a", "@evil.example", ".evil.example"].map(
      (end) => OFFER + end,
    ),
    ...["\n", "/", "//evil.example", "https://evil.example", "/souk", "/v1"].map((begin) => begin + OFFER),
    ...["/offers//", "/offers\\", "/Offers/"].map((folder) => OFFER.replace("/offers/", folder)),
  ]) {
    t.is(safeReturnPath(path), "/settings", JSON.stringify(path));
  }
});

test("derived secrets are stable, and differ for each purpose and each source secret", (t) => {
  const flow = newSecret();
  const { state, nonce, verifier } = openIdSecrets(flow);
  t.deepEqual(openIdSecrets(flow), { state, nonce, verifier });
  const all = [flow, state, nonce, verifier, sessionSecret(flow), ...Object.values(openIdSecrets(newSecret()))];
  t.is(new Set(all).size, all.length);
  for (const secret of all) t.regex(secret, /^[\w-]{43}$/);
  t.false(codeHash(flow, "123456").equals(codeHash(newSecret(), "123456")));
});

test("codes have six, nine or twelve digits, each evenly distributed", (t) => {
  for (const digits of CODE_LENGTHS) {
    const codes = Array.from({ length: 5_000 }, () => codeOf(newSecret(), digits));
    for (const code of codes) t.regex(code, new RegExp(`^\\d{${digits}}$`));
    for (let place = 0; place < digits; place += 1) {
      const atPlace = Map.groupBy(codes, (code) => code[place]);
      t.is(atPlace.size, 10);
      // The expected number is 500 of each. The bounds are five times the standard deviation of 21.
      for (const [digit, { length }] of atPlace) t.true(length > 390 && length < 610, `${digit}: ${length}`);
    }
  }
});

const pem = (namedCurve: string): string =>
  String(generateKeyPairSync("ec", { namedCurve }).privateKey.export({ type: "pkcs8", format: "pem" }));

const APPLE = { APPLE_CLIENT_ID: "client", APPLE_TEAM_ID: "team", APPLE_KEY_ID: "key" };

test("a method is available if its provider is configured completely", (t) => {
  t.deepEqual(readConfig({}).signIn, { google: null, apple: null, mail: null, recordKey: null });
  t.deepEqual(readConfig({ GOOGLE_CLIENT_ID: "a", GOOGLE_CLIENT_SECRET: "b" }).signIn.google, {
    issuer: "https://accounts.google.com",
    clientId: "a",
    clientSecret: "b",
  });
  t.deepEqual(readConfig({ SMTP_URL: "smtp://mail.example", MAIL_FROM: "Souk <souk@souk.example>" }).signIn.mail, {
    smtpUrl: "smtp://mail.example",
    from: "Souk <souk@souk.example>",
  });
  for (const key of [pem("prime256v1"), pem("prime256v1").replaceAll("\n", "\\n")]) {
    t.like(readConfig({ ...APPLE, APPLE_PRIVATE_KEY: key }).signIn.apple, {
      issuer: "https://appleid.apple.com",
      teamId: "team",
      privateKey: { asymmetricKeyType: "ec" },
    });
  }
});

test("an incomplete provider configuration stops the start and says what is missing", (t) => {
  const messageOf = (env: Record<string, string>) => t.throws(() => readConfig(env)).message;
  t.regex(messageOf({ GOOGLE_CLIENT_ID: "a" }), /GOOGLE_CLIENT_SECRET: is needed beside GOOGLE_CLIENT_ID/);
  t.regex(messageOf({ SMTP_URL: "smtp://mail.example" }), /MAIL_FROM: is needed beside SMTP_URL/);
  t.regex(messageOf(APPLE), /APPLE_PRIVATE_KEY: is needed beside APPLE_CLIENT_ID, APPLE_TEAM_ID, APPLE_KEY_ID/);
  t.regex(messageOf({ SMTP_URL: "http://mail.example", MAIL_FROM: "a@b.example" }), /SMTP_URL: must start with smtp/);
  for (const key of ["secret words", pem("secp384r1")]) {
    const message = messageOf({ ...APPLE, APPLE_PRIVATE_KEY: key });
    t.regex(message, /APPLE_PRIVATE_KEY: must be the key that Apple gave/);
    t.false(message.includes(key));
  }
  for (const from of ["souk", "a@b.example\nBcc: c@d.example", "Souk"]) {
    t.regex(messageOf({ SMTP_URL: "smtp://mail.example", MAIL_FROM: from }), /MAIL_FROM: must be an address/);
  }
});

test("both parts of a message say the same, and only the HTML part escapes names", (t) => {
  const signIn = message("sign_in", "Sign in to Souk", {
    link: "https://souk.example/sign-in/link/abc",
    code: "012345",
    minutes: 15,
  });
  for (const part of [signIn.text, signIn.html]) {
    for (const said of ["https://souk.example/sign-in/link/abc", "012345", "15 minutes"])
      t.true(part.includes(said), said);
    t.notRegex(part, /undefined|<%|%>/);
  }
  const notice = approvalMessage({
    agentName: "<script>alert('x')</script> & co",
    approvedAt: "2026-03-04T14:03:22.000Z",
    settings: "https://souk.example/settings",
  });
  t.notRegex(notice.html, /<script/);
  t.true(notice.html.includes("&lt;script&gt;"));
  t.true(notice.text.includes("<script>alert('x')</script> & co"));
  t.true(notice.text.includes("2026-03-04 at 14:03 UTC"));
  t.notRegex(notice.subject, /script/);
  for (const act of ["method_added", "method_removed", "account_deleted", "agent_unused"] as const) {
    const { subject, text, html } = accountMessage({
      ...{ act, method: act.startsWith("method") ? "Google" : null, happenedAt: "2026-03-04T14:03:22.000Z" },
      ...{
        agentName: act === "agent_unused" ? "<b>Old</b>" : null,
        recovered: false,
        kept: [],
        removed: [],
        waiting: [],
      },
      settings: "https://souk.example/settings",
    });
    t.regex(
      subject,
      { method_added: /added/, method_removed: /removed/, account_deleted: /deleted/, agent_unused: /ended/ }[act],
    );
    for (const part of [text, html]) {
      t.regex(part, /on 2026-03-04 at 14:03 UTC\./);
      t.true(part.includes("https://souk.example/settings"));
      t.notRegex(part, /undefined|null|<%|%>/);
    }
    t.false(html.includes("<b>Old"));
  }
});
