import test from "ava";
import { LANGUAGES } from "../../src/reader/languages.ts";
import { type Market, openMarket } from "./contract.ts";

/** The questions of a preview: one for each missing field, in the language of the text. */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

const TEXTS = {
  en: "I am selling my old sofa, it is in good condition and very comfortable.",
  de: "Ich verkaufe mein altes Sofa, es ist in gutem Zustand und sehr bequem.",
  fr: "Je vends mon vieux canapé, il est en bon état et très confortable.",
  es: "Vendo mi viejo sofá, está en buen estado y es muy cómodo.",
  it: "Vendo il mio vecchio divano, è in buone condizioni e molto comodo.",
  pt: "Vendo o meu sofá antigo, está em bom estado e é muito confortável.",
  nl: "Ik verkoop mijn oude bank, hij is in goede staat en zit erg lekker.",
  pl: "Sprzedam moją starą kanapę, jest w dobrym stanie i bardzo wygodna.",
  sv: "Jag säljer min gamla soffa, den är i bra skick och mycket skön.",
  da: "Jeg sælger min gamle sofa, den er i god stand og meget behagelig.",
  cs: "Prodám svou starou pohovku, je v dobrém stavu a velmi pohodlná.",
  ro: "Vând canapeaua mea veche, este în stare bună și foarte comodă.",
  tr: "Satılık eski kanepe, iyi durumda ve çok rahat.",
  ru: "Продаю свой старый диван, он в хорошем состоянии и очень удобный.",
  uk: "Продаю свій старий диван, він у гарному стані й дуже зручний.",
  ar: "أبيع كنبة قديمة، وهي بحالة جيدة ومريحة جدا.",
  hi: "मैं अपना पुराना सोफा बेच रहा हूँ, यह अच्छी हालत में है और बहुत आरामदायक है।",
  zh: "我想出售自己的旧沙发，成色很好，坐着很舒服。",
  ja: "古いソファを売ります。状態は良好で、とても座り心地がよいです。",
  ko: "쓰던 소파를 팝니다. 상태가 좋고 아주 편합니다.",
} as const;

for (const [language, text] of Object.entries(TEXTS)) {
  test.serial(`the questions about a text in ${language} are in ${language}`, async (t) => {
    const agent = await market.agent();
    const { status, body } = await agent.call("POST", "/v1/offers/preview", { text });
    t.is(status, 200);
    t.deepEqual(body.missing_fields, ["price", "location", "contact"]);
    const wanted = await market.sql(
      "select q.question from unnest($1::text[]) with ordinality as f (field, n) join reading.question q using (field) where q.language = $2 order by f.n",
      [body.missing_fields, language],
    );
    t.is(wanted.length, 3);
    t.deepEqual(
      body.questions,
      wanted.map(({ question }) => question),
    );
  });
}

test("each language has a text", (t) => {
  t.deepEqual(Object.keys(TEXTS).sort(), Object.keys(LANGUAGES).sort());
});
