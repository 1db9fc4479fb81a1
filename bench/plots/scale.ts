import type { Figure, Result } from '../record/result.ts';
import { groupedBy } from '../record/tables.ts';
import type { Row } from '../support/report.ts';
import { factsOf, table } from './markdown.ts';

/** The cluster that docs/scale.md calculates. */
const NODES = 5000;
const WIRE_BYTES = 'bytes with TLS and HTTP/2';
/** What one API server can send, in bytes a second: ten gigabits. */
const NETWORK = 10e9 / 8;

/** The ways of a start that docs/scale.md compares, by the name of their part. */
const WAYS: Readonly<Record<string, string>> = {
  start: 'streaming list, protobuf',
  'start with JSON': 'streaming list, JSON',
  'start with plain lists': 'plain list, protobuf, gzip',
  'start with plain lists, no gzip': 'plain list, protobuf',
};

/** Starts with as many requests as another way that the table has. */
const SAME_REQUESTS: ReadonlySet<string> = new Set(['start with JSON', 'start with plain lists, no gzip']);

/** The rows of a storm's table. Not every storm has all of them. */
const STORM_FIGURES: readonly string[] = [
  'API server is ready after',
  'half of them synced after',
  'all synced after',
  'attempts a second while it is down',
  'fullest tenth of a second while it is down',
  'answered requests',
  'answered requests, fullest second',
  'requests refused with 429',
  'requests refused otherwise',
  'waits after 429, fullest tenth of a second',
  "API server's processor",
  "API server's processor since its start",
  "API server's processor, each proxy",
  "API server's greatest memory",
];

/** The text of each region of docs/scale.md, by the name of the region. */
export function scaleRegions(result: Result | undefined): Readonly<Record<string, string>> {
  const of = (text: (result: Result) => string) => (result ? text(result) : '');
  return {
    facts: of(facts),
    starts: of(starts),
    requests: of(requests),
    changes: of(changes),
    processor: of(processor),
    storms: of(storms),
  };
}

function facts(result: Result): string {
  return [`\`${result.command}\``, table(factsOf({ ...result, notes: {} }))].join('\n\n');
}

/** Bytes of a start: of one node as measured, and of all nodes as calculated. */
function starts({ figures, versions }: Result): string {
  const wanted = figures.filter(({ part, name }) => part in WAYS && name === WIRE_BYTES);
  return bytesTable(wanted, Object.keys(versions), ({ part, size }) => ({
    'Services × endpoints': times(size),
    way: WAYS[part] ?? part,
  }));
}

function changes({ figures, versions }: Result): string {
  const wanted = figures.filter(({ part, name }) => part.startsWith('change of') && name === WIRE_BYTES);
  return bytesTable(lastSize(wanted), Object.keys(versions), ({ part }) => ({
    change: part.slice('change of '.length),
  }));
}

function bytesTable(figures: readonly Figure[], subjects: readonly string[], head: (first: Figure) => Row): string {
  const rows = [...groupedBy(figures, ({ part, size }) => `${part}, ${size}`).values()].flatMap(group => {
    const [first] = group;
    if (!first) return [];
    const figureOf = (subject: string) => group.find(each => each.subject === subject)?.value;
    const each = subjects.map(subject => [subject, bytesText(figureOf(subject))]);
    const [ours = ''] = subjects;
    const all = NODES * (figureOf(ours) ?? 0);
    const total = {
      [`${NODES.toLocaleString('en')} nodes`]: bytesText(all),
      'at 10 Gbit/s': secondsText(all / NETWORK),
    };
    return { ...head(first), ...Object.fromEntries(each), ...total };
  });
  return table(rows);
}

function requests({ figures, versions }: Result): string {
  const wanted = figures.filter(({ part, name }) => name === 'requests' && !SAME_REQUESTS.has(part));
  const rows = [...groupedBy(lastSize(wanted), ({ part }) => part)].map(([part, group]) => ({
    requests: part,
    ...Object.fromEntries(
      Object.keys(versions).map(subject => [subject, group.find(each => each.subject === subject)?.value ?? '']),
    ),
  }));
  return table(rows);
}

/** The processor time of the API server: measured for each proxy of a storm, and calculated for all nodes. */
function processor({ figures }: Result): string {
  const costs = [
    ["API server's processor, each proxy", 'start'],
    ["API server's processor for a change, each proxy", 'change of a slice'],
  ] as const;
  const rows = costs.flatMap(([name, what]) =>
    figures
      .filter(each => each.name === name && each.part === 'storm, API server works')
      .map(({ size, value, unit }) => ({
        what,
        'measured with': size,
        'one proxy': `${value} ${unit}`,
        [`${NODES.toLocaleString('en')} nodes`]: secondsText((NODES * value) / (unit === 'ms' ? 1e3 : 1e6)),
      })),
  );
  return table(rows);
}

function storms({ figures, notes = {} }: Result): string {
  const groups = groupedBy(
    figures.filter(({ part }) => part.startsWith('storm, ')),
    ({ part }) => part,
  );
  return [...groups].map(([part, group]) => stormText(part, group, notes)).join('\n\n');
}

function stormText(part: string, figures: readonly Figure[], notes: Readonly<Record<string, string>>): string {
  const sizes = [...new Set(figures.map(({ size }) => size))];
  const cells = (figureOf: (size: string) => string) => Object.fromEntries(sizes.map(size => [size, figureOf(size)]));
  const rows = STORM_FIGURES.filter(name => figures.some(each => each.name === name)).map(name => {
    const unit = figures.find(each => each.name === name)?.unit ?? '';
    const figureOf = (size: string) =>
      String(figures.find(each => each.name === name && each.size === size)?.value ?? '');
    return { figure: unit === '' ? name : `${name}, ${unit}`, ...cells(figureOf) };
  });
  const load = { figure: 'load of the machine before', ...cells(size => notes[`load before ${part}, ${size}`] ?? '') };
  return `### ${capital(part.slice('storm, '.length))}\n\n${table([...rows, load])}`;
}

/** The figures of the largest cluster, which is the last. */
function lastSize(figures: readonly Figure[]): readonly Figure[] {
  const { size } = figures.at(-1) ?? {};
  return figures.filter(each => each.size === size);
}

export function bytesText(bytes: number | undefined): string {
  if (bytes === undefined) return '';
  const [unit, divisor] =
    bytes >= 1e9 ? ['GB', 1e9] : bytes >= 1e6 ? ['MB', 1e6] : bytes >= 1e3 ? ['kB', 1e3] : ['B', 1];
  return `${Number((bytes / Number(divisor)).toPrecision(3))} ${unit}`;
}

function secondsText(seconds: number): string {
  return seconds >= 1 ? `${Number(seconds.toPrecision(3))} s` : `${Number((seconds * 1000).toPrecision(3))} ms`;
}

function times(size: string): string {
  return size.replace('x', ' × ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
