/** Plots times against sizes on logarithmic axes. The colours suit light and dark pages. */
export interface Panel {
  readonly title: string;
  /** What `x` counts. */
  readonly axis: string;
  readonly points: readonly Point[];
}

export interface Point {
  readonly x: number;
  readonly label: string;
  /** Milliseconds. */
  readonly ours: number;
  /** If `isLimit`, the load was stopped after this time and would have taken longer. */
  readonly nft: { readonly ms: number; readonly isLimit: boolean } | undefined;
}

const WIDTH = 420;
const HEIGHT = 340;
const MARGIN = { left: 64, right: 20, top: 54, bottom: 50 };

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #57606a }
  .title { font-size: 14px; font-weight: 600 } .size { font-size: 11px }
  .grid { stroke: #8c959f; stroke-opacity: .3 }
  .ours { stroke: #0969da; fill: none; stroke-width: 2 } .ours-dot { fill: #0969da } text.ours-text { fill: #0969da }
  .nft { stroke: #bc4c00; fill: none; stroke-width: 2 } .nft-dot { fill: #bc4c00 } text.nft-text { fill: #bc4c00 }
  .limit { stroke-dasharray: 3 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9da7b3 }
    .ours { stroke: #4493f8 } .ours-dot, text.ours-text { fill: #4493f8 }
    .nft { stroke: #f0883e } .nft-dot, text.nft-text { fill: #f0883e }
  }`;

export function plotPanels(panels: readonly Panel[]): string {
  // The last number of an axis is half outside of its panel.
  const width = WIDTH * panels.length + 24;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}">`,
    `<title>${panels.map(({ title }) => title).join('; ')}: time against size</title>`,
    `<style>${STYLE}</style>`,
    ...panels.map((panel, i) => `<g transform="translate(${i * WIDTH} 0)">\n${plotPanel(panel)}\n</g>`),
    '</svg>\n',
  ].join('\n');
}

interface Scale {
  readonly ticks: readonly number[];
  at(value: number): number;
}

interface Mark {
  readonly x: number;
  readonly y: number;
  readonly isLimit: boolean;
}

function plotPanel({ title, axis, points }: Panel): string {
  const times = points.flatMap(({ ours, nft }) => [ours, ...(nft ? [nft.ms] : [])]);
  const x = scale(
    points.map(point => point.x),
    MARGIN.left,
    WIDTH - MARGIN.right,
  );
  const y = scale(times, HEIGHT - MARGIN.bottom, MARGIN.top);
  const sorted = [...points].sort((a, b) => a.x - b.x || a.ours - b.ours);
  const ours = sorted.map(point => ({ x: x.at(point.x), y: y.at(point.ours), isLimit: false }));
  const nft = sorted.flatMap(point =>
    point.nft ? [{ x: x.at(point.x), y: y.at(point.nft.ms), isLimit: point.nft.isLimit }] : [],
  );
  return [
    text(MARGIN.left, 20, title, 'title'),
    text(MARGIN.left, 38, 'Pointsman', 'ours-text'),
    text(MARGIN.left + 76, 38, "kube-proxy's layout through nft", 'nft-text'),
    ...y.ticks.flatMap(tick => horizontal(y.at(tick), duration(tick))),
    ...x.ticks.flatMap(tick => vertical(x.at(tick), count(tick))),
    text((MARGIN.left + WIDTH - MARGIN.right) / 2, HEIGHT - 12, axis, undefined, 'middle'),
    line(
      nft.filter(({ isLimit }) => !isLimit),
      'nft',
    ),
    ...nft.map(mark => (mark.isLimit ? arrow(mark) : dot(mark, 'nft-dot'))),
    line(ours, 'ours'),
    ...ours.map(mark => dot(mark, 'ours-dot')),
    // The labels are below and above by turns, because neighbours may be close.
    ...ours.map(({ x, y }, i) => text(x, i % 2 ? y - 9 : y + 18, sorted[i]?.label ?? '', 'size', 'middle')),
  ].join('\n');
}

/** A scale from the power of ten below the values to the power of ten above them. */
function scale(values: readonly number[], from: number, to: number): Scale {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)),
    at: value => Number((from + ((Math.log10(value) - low) / (high - low)) * (to - from)).toFixed(1)),
  };
}

function text(x: number, y: number, content: string, style?: string, anchor?: string): string {
  const extra = `${style ? ` class="${style}"` : ''}${anchor ? ` text-anchor="${anchor}"` : ''}`;
  return `<text x="${x}" y="${y}"${extra}>${content}</text>`;
}

function horizontal(y: number, label: string): string[] {
  const grid = `<path class="grid" d="M${MARGIN.left} ${y}H${WIDTH - MARGIN.right}"/>`;
  return [grid, text(MARGIN.left - 8, y + 4, label, undefined, 'end')];
}

function vertical(x: number, label: string): string[] {
  const grid = `<path class="grid" d="M${x} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}"/>`;
  return [grid, text(x, HEIGHT - MARGIN.bottom + 18, label, undefined, 'middle')];
}

function line(marks: readonly Mark[], style: string): string {
  return marks.length < 2 ? '' : `<path class="${style}" d="M${marks.map(({ x, y }) => `${x} ${y}`).join('L')}"/>`;
}

function dot({ x, y }: Mark, style: string): string {
  return `<circle class="${style}" cx="${x}" cy="${y}" r="4"/>`;
}

/** An arrow upwards from the limit. */
function arrow({ x, y }: Mark): string {
  return `<path class="nft limit" d="M${x} ${y}v-14"/><path class="nft" d="M${x - 4} ${y - 12}l4 -6l4 6"/>`;
}

function duration(milliseconds: number): string {
  return milliseconds >= 1000 ? `${milliseconds / 1000} s` : `${milliseconds} ms`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}
