import test from "ava";
import type { LabelledMatch, LabelledOffer, LabelledQuery } from "./labels.ts";
import { judgeMatch, judgeOffer, judgeQuery, type OfferPrediction, score } from "./metrics.ts";

/** Tests the measures themselves, on cases whose scores can be computed by hand. */

const LABELLED: LabelledOffer = {
  id: "o1",
  text: "Kaffeemühle, 40 €, Köln-Ehrenfeld, 0221 4710 345 oder m@example.de, am liebsten per Mail",
  tags: [],
  expect: {
    title_contains: ["kaffeemuhle|muhle"],
    domain: "home_garden",
    category: "kitchen",
    offer_kind: "sale",
    price: { amount: 40, currency: "EUR", period: null },
    location: "Köln-Ehrenfeld",
    contacts: [
      { type: "phone", value: "+492214710345" },
      { type: "email", value: "m@example.de", preferred: true },
    ],
    must_reject: null,
    also_ok: {
      category: ["home_garden/appliances"],
      offer_kind: [],
      price: [{ amount: 45, currency: "EUR" }],
      location: [],
    },
  },
};
const READ: OfferPrediction = {
  id: "o1",
  rejected: false,
  title: "Kaffeemühle",
  domain: "home_garden",
  category: "kitchen",
  offer_kind: "sale",
  price: { amount: 40, currency: "EUR", period: "project" },
  location: "Köln",
  contacts: [
    { type: "phone", value: "+49 221 4710345" },
    { type: "email", value: "M@example.de", preferred: true },
  ],
};

const scoreOf = (read: Partial<OfferPrediction>) => score([judgeOffer(LABELLED, { ...READ, ...read })]);

test("an extraction that says the same in other words is right", (t) => {
  const scores = scoreOf({});
  for (const name of ["title", "domain", "category", "offer_kind", "price", "location", "preferred", "contacts F1"]) {
    t.is(scores.get(name), 1, name);
  }
});

test("a value that the labels also allow is right", (t) => {
  const scores = scoreOf({ category: "appliances", price: { amount: 45, currency: "EUR", period: null } });
  t.is(scores.get("category"), 1);
  t.is(scores.get("price"), 1);
});

test("each wrong value lowers its own measure", (t) => {
  const scores = scoreOf({
    title: "Mixer",
    domain: "electronics",
    offer_kind: "rental",
    price: { amount: 40, currency: "USD", period: null },
    location: null,
    contacts: [{ type: "sms", value: "+492214710345" }],
  });
  for (const name of ["title", "domain", "category", "offer_kind", "price", "location", "preferred", "contacts F1"]) {
    t.is(scores.get(name), 0, name);
  }
  t.is(scores.get("price amount"), 1);
  t.is(scores.get("contact values precision"), 1);
  t.is(scores.get("contact values recall"), 0.5);
});

test("of a text that must be refused, only the refusal counts", (t) => {
  const refused = { ...LABELLED, expect: { ...LABELLED.expect, must_reject: "missing_contact" } };
  const scores = score([
    judgeOffer(refused, { ...READ, rejected: true }),
    judgeOffer(refused, READ),
    judgeOffer(LABELLED, { ...READ, rejected: true }),
  ]);
  t.is(scores.get("reject precision"), 0.5);
  t.is(scores.get("reject recall"), 0.5);
  t.is(scores.get("title"), 1);
});

test("the score of a search depends on the ranks of its results", (t) => {
  const query: LabelledQuery = { id: "q", query: "x", tags: [], filters: {}, relevant: { a: 3, b: 3, c: 1 } };
  const best = score([judgeQuery(query, { id: "q", results: ["a", "b", "c"] })]);
  t.is(best.get("nDCG@10"), 1);
  const scores = score([judgeQuery(query, { id: "q", results: ["x", "a", "a"] })]);
  t.is(scores.get("nDCG@10"), 7 / Math.log2(3) / (7 + 7 / Math.log2(3) + 1 / 2));
  t.is(scores.get("recall@10 of grade 3"), 0.5);
  t.is(scores.get("success@1"), 0);
  t.is(scores.get("MRR"), 0.5);
});

test("a forbidden match is counted, and an acceptable one is not", (t) => {
  const label: LabelledMatch = {
    id: "m",
    ask_text: "x",
    relevant_offers: ["a", "b"],
    wrong_kind_offers: ["w"],
    acceptable_offers: ["c"],
  };
  const scores = score([judgeMatch(label, { id: "m", results: ["a", "c", "w"] })]);
  t.is(scores.get("matches precision"), 0.5);
  t.is(scores.get("matches recall"), 0.5);
  t.is(scores.get("forbidden matches"), 1);
  t.is(scores.get("asks without a violation"), 0);
});
