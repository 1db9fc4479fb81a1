/** The parts of plots. The colours suit light and dark pages. */
export const WIDTH = 420;
export const HEIGHT = 320;
export const MARGIN = { left: 64, right: 20, top: 44, bottom: 46 };

/** One colour for each subject, in their order: on light and on dark pages. Our own programs come first. */
const COLOURS: readonly (readonly [light: string, dark: string])[] = [
  ['#0969da', '#4493f8'],
  ['#bc4c00', '#f0883e'],
  ['#8250df', '#ab7df8'],
  ['#1a7f37', '#3fb950'],
  ['#bf3989', '#db61a2'],
  ['#57606a', '#9da7b3'],
  ['#9a6700', '#d29922'],
  ['#cf222e', '#f85149'],
];

const STYLE = `text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-size: 14px; font-weight: 600 }
.grid { stroke: #8c959f; stroke-opacity: .3 }
path.line { fill: none; stroke-width: 2 }
${COLOURS.map(([light], i) => colourRules(i, light)).join('\n')}
@media (prefers-color-scheme: dark) {
text { fill: #9da7b3 }
${COLOURS.map(([, dark], i) => colourRules(i, dark)).join('\n')}
}`;

function colourRules(index: number, colour: string): string {
  return `path.s${index} { stroke: ${colour} } circle.s${index}, rect.s${index} { fill: ${colour} }`;
}

/** The class of a subject. Colours repeat if there are many. */
export function styleOf(index: number): string {
  return `s${index % COLOURS.length}`;
}

const LEGEND_HEIGHT = 22;

/** Panels beside one another, with one legend below. */
export function drawing(title: string, panels: readonly string[], subjects: readonly string[]): string {
  // The last label of an axis is half outside of its panel.
  const width = WIDTH * panels.length + 24;
  const perRow = Math.max(1, Math.floor((width - MARGIN.left) / 190));
  const height = HEIGHT + LEGEND_HEIGHT * Math.ceil(subjects.length / perRow);
  const legend = subjects.flatMap((subject, i) => {
    const x = MARGIN.left + (i % perRow) * 190;
    const y = HEIGHT + 10 + LEGEND_HEIGHT * Math.floor(i / perRow);
    return [`<rect class="${styleOf(i)}" x="${x}" y="${y - 9}" width="10" height="10"/>`, text(x + 16, y, subject)];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    ...panels.map((panel, i) => `<g transform="translate(${i * WIDTH} 0)">\n${panel}\n</g>`),
    ...legend,
    '</svg>\n',
  ].join('\n');
}

export interface Scale {
  readonly ticks: readonly number[];
  at(value: number): number;
}

/** From the power of ten below the values to the power of ten above them. */
export function logScale(values: readonly number[], from: number, to: number): Scale {
  const positive = values.filter(value => value > 0);
  const low = Math.floor(Math.log10(Math.min(...positive)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive))));
  const least = 10 ** low;
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)),
    at: value => place(from, to, (Math.log10(Math.max(value, least)) - low) / (high - low)),
  };
}

/** From 0 to a round number above the values. */
export function linearScale(values: readonly number[], from: number, to: number): Scale {
  const greatest = Math.max(...values, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(greatest));
  const step = [0.2, 0.5, 1, 2].map(factor => factor * power).find(each => each * 6 >= greatest) ?? power;
  const count = Math.ceil(greatest / step);
  return {
    ticks: Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(6))),
    at: value => place(from, to, value / (count * step)),
  };
}

function place(from: number, to: number, part: number): number {
  return Number((from + part * (to - from)).toFixed(1));
}

export interface Mark {
  readonly x: number;
  readonly y: number;
}

export function text(x: number, y: number, content: string, style?: string, anchor?: string): string {
  const extra = `${style ? ` class="${style}"` : ''}${anchor ? ` text-anchor="${anchor}"` : ''}`;
  return `<text x="${x}" y="${y}"${extra}>${escaped(content)}</text>`;
}

export function horizontal(y: number, label: string): readonly string[] {
  const grid = `<path class="grid" d="M${MARGIN.left} ${y}H${WIDTH - MARGIN.right}"/>`;
  return [grid, text(MARGIN.left - 8, y + 4, label, undefined, 'end')];
}

export function vertical(x: number, label: string): readonly string[] {
  const grid = `<path class="grid" d="M${x} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}"/>`;
  return [grid, text(x, HEIGHT - MARGIN.bottom + 18, label, undefined, 'middle')];
}

export function line(marks: readonly Mark[], style: string): string {
  return marks.length < 2 ? '' : `<path class="line ${style}" d="M${marks.map(({ x, y }) => `${x} ${y}`).join('L')}"/>`;
}

export function dot({ x, y }: Mark, style: string): string {
  return `<circle class="${style}" cx="${x}" cy="${y}" r="4"/>`;
}

export function numberText(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 6 });
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
