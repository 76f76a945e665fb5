import test, { type ExecutionContext } from "ava";
import type { Browser } from "playwright-core";
import { launchBrowser, leaveBy, openPage, screenshot, VIEWS, type View } from "../support/browser.ts";
import { CONNECTION, raised, type Script, servePages } from "./site.ts";
import { faults, SOUND, tabTo } from "./sound.ts";

/** Tests the pages in a browser: in every view (size, light and dark colours) and with the keyboard alone. */

const LONGEST = "W".repeat(80);

let browser: Browser;
test.before(async () => {
  browser = await launchBrowser();
});
test.after.always(() => browser?.close());

/** Opens a site in a view. Collects console messages and the URLs of requests to other hosts as complaints. */
const visit = async (t: ExecutionContext, view: View, script: Script = {}) => {
  const site = await servePages(t, script);
  const page = await openPage(browser, view, t);
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith(site.url)) complaints.push(request.url());
  });
  return { site, page, complaints };
};

for (const view of VIEWS) {
  test(`the approval page is accessible and fits the screen on ${view.name}`, async (t) => {
    const { site, page, complaints } = await visit(t, view);
    await page.goto(`${site.url}/connect/secret`);
    await screenshot(page, `approve-${view.name}`);
    t.deepEqual(await faults(page), SOUND);
    const [yes, no] = await Promise.all(
      ["Approve", "Not mine"].map((name) => page.getByRole("button", { name }).boundingBox()),
    );
    t.truthy(yes);
    t.deepEqual([yes?.y, yes?.width, yes?.height], [no?.y, no?.width, no?.height], "the answers are equally prominent");
    await page.getByRole("button", { name: "Approve" }).focus();
    t.deepEqual(complaints, []);
  });

  test(`every other page is accessible and fits the screen on ${view.name}`, async (t) => {
    const { site, page, complaints } = await visit(t, view);
    for (const path of ["/", "/errors", "/errors#rate_limited"]) {
      await page.goto(site.url + path);
      await screenshot(page, `${path === "/" ? "home" : path.slice(1).replace("#", "-")}-${view.name}`);
      t.deepEqual(await faults(page), SOUND, path);
    }
    for (const answer of ["Approve", "Not mine"]) {
      await page.goto(`${site.url}/connect/secret`);
      await leaveBy(page, page.getByRole("button", { name: answer }));
      await screenshot(page, `${answer === "Approve" ? "approved" : "declined"}-${view.name}`);
      t.deepEqual(await faults(page), SOUND, answer);
    }
    t.deepEqual(complaints, []);
    site.script["get_connection"] = raised(409, "connection_already_used", "This link was already used.");
    await page.goto(`${site.url}/connect/secret`);
    await screenshot(page, `used-${view.name}`);
    t.deepEqual(await faults(page), SOUND);
  });

  test(`the longest agent name fits on ${view.name}`, async (t) => {
    const { site, page } = await visit(t, view, {
      get_connection: { ...CONNECTION, agent_name: LONGEST, code: "WXWX-WXWX" },
      approve_connection: { agent_name: LONGEST, agent_id: "a", new_session: true, client: null },
    });
    await page.goto(`${site.url}/connect/secret`);
    await screenshot(page, `long-${view.name}`);
    t.deepEqual(await faults(page), SOUND);
    await leaveBy(page, page.getByRole("button", { name: "Approve" }));
    t.deepEqual(await faults(page), SOUND);
  });

  test(`a person approves with the keyboard alone on ${view.name}`, async (t) => {
    const { site, page } = await visit(t, view);
    await page.goto(`${site.url}/connect/secret`);
    await tabTo(page, "Approve");
    await screenshot(page, `focus-${view.name}`);
    t.not(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none", "the focus is visible");
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    t.is(await page.getByRole("heading", { level: 1 }).textContent(), "Claude now acts for you");
    t.deepEqual(
      site.calls.map(({ name }) => name),
      ["get_connection", "approve_connection"],
    );
  });
}

test("the browser sends the form's Origin, but never the link as Referer", async (t) => {
  const { site, page } = await visit(t, VIEWS[0] ?? t.fail("no view"));
  const sent: Record<string, string>[] = [];
  page.on("request", async (request) => sent.push(await request.allHeaders()));
  await page.goto(`${site.url}/connect/secret`);
  await leaveBy(page, page.getByRole("button", { name: "Not mine" }));
  await page.waitForLoadState();
  const post = sent.find((headers) => headers[":method"] === "POST" || headers["content-type"] !== undefined);
  t.is(post?.["origin"], site.url);
  t.deepEqual(
    sent.flatMap((headers) => (headers["referer"]?.includes("secret") ? [headers] : [])),
    [],
  );
});
