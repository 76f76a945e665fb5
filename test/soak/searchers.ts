import { performance } from "node:perf_hooks";
import { type Act, type Calls, own } from "./calls.ts";
import { PLACES, pathOf, THINGS } from "./texts.ts";

/** Searchers and readers: they search, read what is theirs, and try to read what is not. */

/** The acts of searchers and readers. */
export const reading = ({ ledger, apis, send, expectStatus, checkPrivate }: Calls) => {
  const list =
    (path: string): Act =>
    async (household, caller) => {
      const told = await send(`GET ${path}`, "GET", path, { token: caller.token });
      if (told && expectStatus(told, `GET ${path}`, 200)) {
        checkPrivate(household.name, path, told.answer, told.begun);
        if (path === "/v1/me" && (told.answer.body.id !== caller.account || told.answer.body.agent.id !== caller.id))
          ledger.violate("nobody sees another's rows", `${caller.id} got ${told.answer.text}`, told.begun);
      }
    };

  const search: Act = async ({ random }, caller) => {
    const query = `${random.pick(THINGS)} in ${random.pick(PLACES)}`;
    const told = await send("search", "POST", "/v1/offers/search", { token: caller.token, body: { query } });
    expectStatus(told, "search", 200, 429);
  };

  const readOwn: Act = async (household, caller) => {
    const text = own(household, household.random.pick(["offer", "ask"]));
    if (!text) return;
    const told = await send(`GET own ${text.kind}`, "GET", pathOf(text), { token: caller.token });
    if (told && expectStatus(told, `GET own ${text.kind}`, 200))
      checkPrivate(household.name, pathOf(text), told.answer, told.begun);
  };

  const readMatches: Act = async (household, caller) => {
    const text = own(household, "ask");
    if (!text) return;
    expectStatus(await send("matches", "GET", `${pathOf(text)}/matches`, { token: caller.token }), "matches", 200);
  };

  /** What belongs to others and is not public. */
  const reachForOthers: Act = async (household, caller) => {
    const others = ledger.texts.filter(
      ({ household: of, verdict, kind }) => of !== household.name && verdict === "made" && kind === "ask",
    );
    if (others.length === 0) return;
    const text = household.random.pick(others);
    const [what, method, path] = household.random.pick<[string, string, string]>([
      ["GET another's ask", "GET", pathOf(text)],
      ["GET another's matches", "GET", `${pathOf(text)}/matches`],
      ["archive another's ask", "POST", `${pathOf(text)}/archive`],
    ]);
    const told = await send(what, method, path, { token: caller.token });
    if (told && told.answer.status < 300)
      ledger.violate("nobody sees another's rows", `${what}: ${told.answer.text.slice(0, 300)}`, told.begun);
    else expectStatus(told, what, 404, 409);
  };

  const openPage: Act = async (household) => {
    const [api] = apis();
    const begun = performance.now();
    const page = await household.person.open(`${api?.url}/settings/market`).catch(() => null);
    ledger.note({ caller: household.name, what: "GET /settings/market", status: page?.status ?? null, begun });
    if (page) checkPrivate(household.name, "/settings/market", page, begun);
  };

  return { list, search, readOwn, readMatches, reachForOthers, openPage };
};
