import type { Offer, Place, Product, UnitPriceSpecification, WithContext } from "schema-dts";
import type { ShownOffer } from "./shown_offer.ts";

/**
 * An offer in the words of schema.org (https://schema.org/Offer), for search engines and assistants that read pages.
 * The types are schema.org's own, so the compiler checks every name.
 */

/** An Offer itself, and not one of its subtypes or a reference. */
type OfferLeaf = Extract<Offer, { "@type": "Offer" }>;

/** UN/CEFACT's codes of units, which schema.org takes as `unitCode`. */
const UNITS: Readonly<Record<string, string>> = {
  hour: "HUR",
  day: "DAY",
  week: "WEE",
  month: "MON",
  year: "ANN",
  square_meter: "MTK",
  square_foot: "FTK",
  hectare: "HAR",
  acre: "ACR",
  cubic_meter: "MTQ",
  liter: "LTR",
  meter: "MTR",
  foot: "FOT",
  kilometer: "KMT",
  gram: "GRM",
  kilogram: "KGM",
  tonne: "TNE",
  pound: "LBR",
  item: "C62",
  person: "IE",
  word: "D68",
  page: "ZP",
};

const CONDITIONS = {
  new: "https://schema.org/NewCondition",
  refurbished: "https://schema.org/RefurbishedCondition",
  like_new: "https://schema.org/UsedCondition",
  used_good: "https://schema.org/UsedCondition",
  used_fair: "https://schema.org/UsedCondition",
  for_parts: "https://schema.org/DamagedCondition",
} as const;

type Price = Pick<OfferLeaf, "price" | "priceCurrency" | "priceSpecification">;

/** The price as members of an Offer; {} if there is no amount. `isExact`: neither a range nor a lower bound. */
const priceOf = ({ pricing }: ShownOffer): { members: Price; isExact: boolean } => {
  const { type, amount = type === "free" ? 0 : undefined, amount_max, currency, period, unit: of } = pricing ?? {};
  if (amount === undefined) return { members: {}, isExact: false };
  const isExact = amount_max === undefined && type !== "from";
  const unit = UNITS[of ?? period ?? ""];
  const paid = currency === undefined ? {} : { priceCurrency: currency };
  if (isExact && unit === undefined && of === undefined) return { members: { price: amount, ...paid }, isExact };
  const priceSpecification: UnitPriceSpecification = {
    "@type": "UnitPriceSpecification",
    ...(isExact
      ? { price: amount }
      : { minPrice: amount, ...(amount_max === undefined ? {} : { maxPrice: amount_max }) }),
    ...paid,
    ...(unit === undefined ? {} : { unitCode: unit }),
  };
  return { members: { priceSpecification }, isExact };
};

const placeOf = ({ place, location }: ShownOffer): Place | null => {
  if (place === null || location === null) return null;
  return {
    "@type": "Place",
    name: location,
    address: {
      "@type": "PostalAddress",
      ...(place.city ? { addressLocality: place.city } : {}),
      ...(place.region ? { addressRegion: place.region } : {}),
      ...(place.country ? { addressCountry: place.country } : {}),
      ...(place.postal_code ? { postalCode: place.postal_code } : {}),
    },
    ...(place.point
      ? { geo: { "@type": "GeoCoordinates", latitude: place.point.lat, longitude: place.point.lon } }
      : {}),
  };
};

/**
 * Makes the JSON-LD of an offer: for things with a price a Product with its Offer, as search engines show it, and an
 * Offer for everything else. It never has a contact.
 * @param offer as the page shows it to everybody
 * @param url the page's address
 * @param images links that may be followed
 */
export const jsonLdOf = (
  offer: ShownOffer,
  url: string,
  images: readonly string[],
): WithContext<Product> | WithContext<Offer> => {
  const { members, isExact } = priceOf(offer);
  const place = placeOf(offer);
  const described = {
    name: offer.title,
    description: offer.text,
    url,
    ...(images.length === 0 ? {} : { image: [...images] }),
  };
  const terms: OfferLeaf = {
    "@type": "Offer",
    availability: "https://schema.org/InStock",
    ...members,
    ...(offer.condition === null ? {} : { itemCondition: CONDITIONS[offer.condition] }),
    ...(place === null ? {} : { availableAtOrFrom: place }),
  };
  return isExact && (offer.offer_kind === "sale" || offer.offer_kind === "rental")
    ? { "@context": "https://schema.org", "@type": "Product", ...described, offers: terms }
    : { "@context": "https://schema.org", ...terms, ...described };
};

/** Returns JSON-LD for a script element: nothing in it can end the element or begin a comment. */
export const inScript = (data: object): string => JSON.stringify(data).replaceAll("<", "\\u003c");
