import { isBroken, SERVICES_SCHEMA, type ServiceRow } from '../../inspect/index.ts';
import { defineCommand, type Io, oneOf } from '../command.ts';
import { documentStream } from '../document-stream.ts';
import { bool, string } from '../flags/index.ts';
import { proxySocket, SOCKET_FLAG } from '../proxy-socket.ts';
import { openProxyStream, type ProxyStream } from '../proxy-stream.ts';
import { COLOR_FLAG, colorFlag, type Style, styleFor } from '../style.ts';
import { servicesTable } from './table.ts';

const FORMS = ['text', 'wide', 'json', 'yaml'] as const;

type Form = (typeof FORMS)[number];

const FLAGS = {
  broken: { type: bool, default: false, usage: 'show only Services that do not answer every caller, with the reasons' },
  output: {
    type: string,
    default: 'text',
    shorthand: 'o',
    word: 'FORM',
    usage: 'text, wide, json or yaml',
    words: FORMS,
  },
  ...SOCKET_FLAG,
  ...COLOR_FLAG,
};

export const servicesCommand = defineCommand({
  name: 'services',
  summary: 'list the Services as this node serves them',
  about: `Lists the Services as the proxy of this node serves them: addresses, ports, endpoints (used/all), new
connections if the proxy counts them, the state, and how long ago the Service or its endpoints changed. ">5h" means that
the change is older than the history, which goes back 5 hours.

With -o wide and a proxy that counts: new and open connections, bytes, packets, and attempts that were rejected or
dropped. "-" means that the mode does not count it.

States: programmed; waiting (the kernel does not have the last changes yet); set aside (the kernel refused a port); no
endpoints; no local endpoints (a traffic policy is Local and this node has no endpoint); conflict (an address belongs to
another Service); problem (the object cannot be used as it is); not proxied (headless, or for another proxy).

GLOB is NAMESPACE/NAME, NAME in the namespace default, or a pattern with * and ?. A pattern without a slash
matches names in all namespaces.

Exit status: 0, or with --broken 1 if a Service is broken. It is 2 if no proxy answers, if there is no Service of this
name, or if the command line is wrong.`,
  usage: 'services [GLOB] [flags]',
  examples: [
    { meaning: 'All Services', command: 'kube-proxy services' },
    { meaning: 'Those that do not answer every caller, and why', command: 'kube-proxy services --broken' },
    { meaning: 'All of a namespace, with all addresses', command: "kube-proxy services 'shop/*' -o wide" },
  ],
  flags: FLAGS,
  argument: 'GLOB',
  errorStatus: 2,
  async run({ values, positional: [name = ''] }, io) {
    const form = oneOf(FORMS, values.output, '"-o, --output" flag');
    const query = new URLSearchParams({
      ...(name !== '' && { name }),
      ...(values.broken && { broken: 'true' }),
      ...(form !== 'text' && { traffic: 'true' }),
    });
    const lines = proxySocket(values).lines(`/v1/services?${query}`);
    const stream = await openProxyStream<ServiceRow>(lines, SERVICES_SCHEMA);
    const style = styleFor(io.stdout, io.env, colorFlag(values));
    const { printed, broken } = await printServices(stream, { form, isBrokenOnly: values.broken, style, io });
    if (printed === 0 && (form === 'text' || form === 'wide')) io.stderr.write(nothingText(name, values.broken));
    return values.broken && broken > 0 ? 1 : 0;
  },
});

export interface PrintOptions {
  readonly form: Form;
  readonly isBrokenOnly: boolean;
  readonly style: Style;
  readonly io: Pick<Io, 'stdout'>;
}

/** Prints the rows as they come. */
export async function printServices({ head, rows }: ProxyStream<ServiceRow>, options: PrintOptions) {
  const { form, isBrokenOnly, style, io } = options;
  const print = (text: string) => io.stdout.write(text);
  const target =
    form === 'text' || form === 'wide'
      ? servicesTable({ head, isWide: form === 'wide', hasReasons: isBrokenOnly || form === 'wide', style, print })
      : documentStream(form, head, 'services', print);
  let printed = 0;
  let broken = 0;
  for await (const row of rows) {
    printed++;
    if (isBroken(row.state)) broken++;
    target.add(row);
  }
  target.end();
  return { printed, broken };
}

function nothingText(name: string, isBrokenOnly: boolean): string {
  const which = name === '' ? '' : ` that matches ${JSON.stringify(name)}`;
  if (!isBrokenOnly) return `There is no Service${which}.\n`;
  return name === '' ? 'No Service is broken.\n' : `No Service${which} is broken.\n`;
}
