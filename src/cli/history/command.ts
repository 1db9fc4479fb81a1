import { stringify } from 'yaml';
import { HISTORY_SCHEMA, type HistoryRow, type MissedRow } from '../../inspect/index.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import { defineCommand, type Io, oneOf } from '../command.ts';
import { documentStream, jsonText, printableTexts, YAML_OPTIONS } from '../document-stream.ts';
import { bool, duration, FlagError, string } from '../flags/index.ts';
import { proxySocket, SOCKET_FLAG } from '../proxy-socket.ts';
import { openProxyStream, type ProxyStream } from '../proxy-stream.ts';
import { COLOR_FLAG, colorFlag, type Style, styleFor } from '../style.ts';
import { historyTable } from './table.ts';

const FORMS = ['text', 'json', 'yaml'] as const;

type Form = (typeof FORMS)[number];

const FLAGS = {
  follow: { type: bool, default: false, shorthand: 'f', usage: 'print further changes when they happen' },
  since: {
    type: duration,
    default: 0n,
    word: 'DURATION',
    usage: 'only changes that are younger than this, such as 10m',
  },
  output: {
    type: string,
    default: 'text',
    shorthand: 'o',
    word: 'FORM',
    usage: 'text, json or yaml',
    words: FORMS,
  },
  ...SOCKET_FLAG,
  ...COLOR_FLAG,
};

export const historyCommand = defineCommand({
  name: 'history',
  summary: 'show the last changes, from the event of an object to the kernel',
  about: `Shows the last few thousand changes that the proxy of this node made, the oldest first: the event of an object,
what it changed in words, and how long it took from the event until the kernel had it. Also shows repairs of what
another program changed, service ports that the kernel refused, failed syncs, watches that failed, and changes of the
configuration. The history begins when the proxy starts.

SERVICE is NAMESPACE/NAME, NAME in the namespace default, or a pattern with * and ?. A pattern without a slash
matches names in all namespaces.

With --follow, json prints one object a line, and yaml one document for each change.

Exit status: 0, or 2 if no proxy answers, if there is no Service of this name, or if the command line is wrong.`,
  usage: 'history [SERVICE] [flags]',
  examples: [
    { meaning: 'All changes of the last ten minutes', command: 'kube-proxy history --since 10m' },
    { meaning: 'The changes of one Service, and those to come', command: 'kube-proxy history shop/cart --follow' },
  ],
  flags: FLAGS,
  argument: 'SERVICE',
  errorStatus: 2,
  async run({ values, positional: [service = ''] }, io) {
    const form = oneOf(FORMS, values.output, '"-o, --output" flag');
    const { since, follow } = values;
    if (since < 0n) throw new FlagError('invalid argument for "--since" flag: must not be negative');
    const query = new URLSearchParams({
      ...(service !== '' && { service }),
      ...(since > 0n && { since: new Date(Date.now() - toMilliseconds(since)).toISOString() }),
      ...(follow && { follow: 'true' }),
    });
    const lines = proxySocket(values).lines(`/v1/history?${query}`);
    const stream = await openProxyStream<HistoryRow | MissedRow>(lines, HISTORY_SCHEMA);
    const style = styleFor(io.stdout, io.env, colorFlag(values));
    const printed = await printHistory(stream, { form, isFollowing: follow, style, io });
    if (printed === 0 && form === 'text') io.stderr.write(nothingText(service, since > 0n));
    return 0;
  },
});

function nothingText(service: string, isRecent: boolean): string {
  const which = service === '' ? 'change' : `change of a Service that matches ${JSON.stringify(service)}`;
  return `The history has no ${which}${isRecent ? ' in this time' : ''}.\n`;
}

export interface PrintOptions {
  readonly form: Form;
  readonly isFollowing: boolean;
  readonly style: Style;
  readonly io: Pick<Io, 'stdout'>;
}

/** Prints the entries as they come. Returns their number. */
export async function printHistory({ head, rows }: ProxyStream<HistoryRow | MissedRow>, options: PrintOptions) {
  const { form, isFollowing, style, io } = options;
  const print = (text: string) => io.stdout.write(text);
  const target = isFollowing ? following(form, style, print) : whole(form, head, style, print);
  let printed = 0;
  for await (const row of rows) {
    printed++;
    target.add(row);
  }
  target.end();
  return printed;
}

interface Target {
  add(row: HistoryRow | MissedRow): void;
  end(): void;
}

function whole(
  form: Form,
  head: Readonly<Record<string, unknown>>,
  style: Style,
  print: (text: string) => void,
): Target {
  return form === 'text' ? historyTable({ style, print }) : documentStream(form, head, 'entries', print);
}

/** Nothing may wait for the end, because there is none. */
function following(form: Form, style: Style, print: (text: string) => void): Target {
  const end = () => {};
  if (form === 'json') return { add: row => print(`${jsonText(row)}\n`), end };
  if (form === 'yaml') return { add: row => print(`---\n${stringify(printableTexts(row), YAML_OPTIONS)}`), end };
  return historyTable({ style, print, hasFixedWidths: true });
}
