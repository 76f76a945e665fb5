import test from "ava";
import { market } from "./one_market.ts";

/**
 * Distances and cells of the globe. Searches by distance are tested through HTTP (test/http/search.test.ts).
 */

test("distances are those of the globe, across the 180th meridian and the poles too", async (t) => {
  const [row] = await market.sql`select search.distance_km(52.52437, 13.41053, 53.55073, 9.99302) as hamburg,
    search.distance_km(0, 179.5, 0, -179.5) as meridian, search.distance_km(89.5, 0, 89.5, 180) as pole,
    search.distance_km(52.5, 13.4, 52.5, 13.4) as same, search.distance_km(null, null, 1, 1) as unknown`;
  t.is(Math.round(row.hamburg), 255);
  t.is(Math.round(row.meridian), 111);
  t.is(Math.round(row.pole), 111);
  t.is(row.same, 0);
  t.is(row.unknown, null);
});

test("the cells of a circle contain every point within it, at poles and at the 180th meridian, and are few", async (t) => {
  const centres = [
    [52.5, 13.4],
    [0, 0],
    [0, 180],
    [-17.7, -179.99],
    [71.2, 179.9],
    [89.99, 5],
    [-90, -120],
    [84, 10],
    [-33.9, 151.2],
  ];
  const [row] = await market.sql`with circle as (
      select c.lat, c.lon, r.km, search.cell_query(c.lat, c.lon, r.km) as query
      from unnest(${centres.map(([lat]) => lat)}::double precision[], ${centres.map(([, lon]) => lon)}::double
        precision[]) as c (lat, lon), unnest(array[1, 20, 120, 500]) as r (km)
    ), tried as (
      -- Points at the rim and inside, in all directions.
      select circle.*, p.lat as y, p.lon as x
      from circle, generate_series(0, 345, 15) as bearing, unnest(array[0.05, 0.5, 0.9, 0.999]) as share
      cross join lateral (select degrees(km * share / 6371.0088) as reach) as d
      cross join lateral (select asind(greatest(-1, least(1,
        sind(circle.lat) * cosd(reach) + cosd(circle.lat) * sind(reach) * cosd(bearing)))) as lat) as a
      cross join lateral (select a.lat, (circle.lon + atan2d(sind(bearing) * sind(reach) * cosd(circle.lat),
        cosd(reach) - sind(circle.lat) * sind(a.lat)) + 540)::numeric % 360 - 180 as lon) as p
    )
    select count(*) as points, count(*) filter (where array_to_tsvector(search.cells(y, x::double precision)) @@ query)
      as found,
      max(cardinality(search.lexemes_of(query))) as cells
    from tried where search.distance_km(lat, lon, y, x::double precision) <= km`;
  t.true(Number(row.points) > 2500);
  t.is(row.found, row.points);
  t.true(row.cells <= 24);
});

test("a name means the largest town, unless a region or a country follows it", async (t) => {
  const named = async (name: string) =>
    market.value`select p.name || ' ' || p.country as town from unnest(reading.towns_named(${name})) as p limit 1`;
  t.is(await named("Berlin"), "Berlin DE");
  t.is(await named("köln"), "Köln DE");
  t.is(await named("Paris"), "Paris FR");
  t.is(await named("Paris, Texas"), "Paris US");
  t.is(await named("Cambridge MA"), "Cambridge US");
  t.is(await named("Frankfurt (Oder)"), "Frankfurt (Oder) DE");
  t.is(await named("Cologne"), "Köln DE");
  t.is(await named("Bavaria"), undefined);
  t.is(await named("Xyzzytown"), undefined);
  t.is(await named("''"), undefined);
});
