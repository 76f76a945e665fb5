/** Draws a line chart as SVG from the numbers of a run, readable on a light and on a dark background. */

const WIDTH = 760;
const HEIGHT = 420;
/** Space for the labels of the axes, and on the right for the names of the lines. */
const MARGIN = { left: 56, right: 250, top: 44, bottom: 44 };
/** Room on the left and on the right, because the width of a text differs from font to font, in pixels. */
const PADDING = 12;
/** The least distance between two names, in pixels. */
const LINE_HEIGHT = 18;
/** Colours that also differ in lightness (Okabe and Ito, 2008) and are visible on white and on black. */
const COLOURS = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#cc79a7",
  "#b8860b",
  "#56b4e9",
  "#808080",
  "#7b3294",
  "#c51b7d",
  "#4d9221",
];

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Milliseconds of processor time. */
export type Percentiles = { p50: number; p95: number };

/** The times of one operation at each size of the market, and those of the bare query. */
export type Series = { name: string; ours: Percentiles[]; bare: number[] };

/** Draws medians against the size of the market. Both axes are logarithmic, so that the slope is the growth. */
export const drawGrowth = (sizes: number[], series: Series[]): string => {
  const values = series.flatMap(({ ours }) => ours.map(({ p50 }) => Math.max(p50, 0.1)));
  const [low, high] = [
    10 ** Math.floor(Math.log10(Math.min(...values))),
    10 ** Math.ceil(Math.log10(Math.max(...values))),
  ];
  const [least, most] = [Math.log10(sizes[0] ?? 1), Math.log10(sizes.at(-1) ?? 10)];
  const plot = { width: WIDTH - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const x = (size: number) => MARGIN.left + ((Math.log10(size) - least) / Math.max(most - least, 1e-9)) * plot.width;
  const y = (ms: number) =>
    MARGIN.top + plot.height * (1 - Math.log10(Math.max(ms, low) / low) / Math.max(Math.log10(high / low), 1e-9));

  const grid: string[] = [];
  for (let tick = low; tick <= high * 1.001; tick *= 10) {
    grid.push(
      `<line class="grid" x1="${MARGIN.left}" x2="${MARGIN.left + plot.width}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}"/>`,
      `<text class="end" x="${MARGIN.left - 8}" y="${(y(tick) + 4).toFixed(1)}">${Number(tick.toPrecision(1))} ms</text>`,
    );
  }
  for (const size of sizes) {
    grid.push(
      `<text class="middle" x="${x(size).toFixed(1)}" y="${HEIGHT - MARGIN.bottom + 20}">${size.toLocaleString("en")}</text>`,
    );
  }
  // Names stand at the ends of their lines. They are moved apart where lines end close together.
  const names = series
    .map((one, n) => ({ name: one.name, colour: COLOURS[n % COLOURS.length], at: y(one.ours.at(-1)?.p50 ?? low) }))
    .sort((a, b) => a.at - b.at);
  let last = Number.NEGATIVE_INFINITY;
  for (const name of names) {
    name.at = Math.max(name.at, last + LINE_HEIGHT);
    last = name.at;
  }
  const lines = series.map(({ ours }, n) => {
    const colour = COLOURS[n % COLOURS.length];
    const points = ours.map(({ p50 }, i) => `${x(sizes[i] ?? 1).toFixed(1)},${y(p50).toFixed(1)}`);
    const dots = points.map((point) => {
      const [cx, cy] = point.split(",");
      return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`;
    });
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join("")}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-PADDING} 0 ${WIDTH + 2 * PADDING} ${HEIGHT}" width="${WIDTH + 2 * PADDING}" height="${HEIGHT}" role="img" aria-label="Median processor time of each operation by the size of the market">
<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .grid { stroke: #d0d7de; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .grid { stroke: #30363d; } }
</style>
<text x="${MARGIN.left}" y="24">Median processor time of an operation by the number of offers</text>
${grid.join("\n")}
${lines.join("\n")}
${names.map(({ name, colour, at }) => `<text x="${MARGIN.left + plot.width + 10}" y="${(at + 4).toFixed(1)}" style="fill:${colour}">${escaped(name)}</text>`).join("\n")}
</svg>
`;
};
