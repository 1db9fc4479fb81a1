import { KernelError } from '../../kernel/errors.ts';
import { RouteSocket } from '../../kernel/rtnetlink/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { PreviewInput } from '../descriptor.ts';
import { pinnedTable } from './explained/pinned-maps.ts';
import {
  foundPoolNames,
  type SocketTable,
  tableLines,
  type WantedTable,
  wantedTable,
} from './explained/table-lines.ts';
import type { EbpfOptions } from './mode.ts';
import { nodeAddresses, render } from './render.ts';

/** What the maps would hold, as lines; or the lines that differ from the maps of the pinned programs. */
export async function previewEbpf(options: EbpfOptions, input: PreviewInput): Promise<string> {
  const { family, against } = input;
  const wanted = tableFor(input);
  if (against === 'nothing') return withHeader(family, 'what programs look up', tableLines(wanted, wanted.poolNames));
  try {
    const found = pinnedTable(family, options);
    return withHeader(family, 'changes of what programs look up', differences(found ?? NOTHING, wanted));
  } catch (error) {
    if (error instanceof KernelError) return notCompared(family, error);
    throw error;
  }
}

/** The process may lack CAP_SYS_ADMIN, as in the pod of the proxy. The network can be compared all the same. */
function notCompared(family: Family, { message }: KernelError): string {
  return `# ${family} sockets: not compared with the kernel, but kube-proxy explain can do so: ${message}\n`;
}

const NOTHING: SocketTable = { targets: new Map(), pools: new Map(), nodeAddresses: new Map() };

function tableFor({ family, plans, settings, namespace }: PreviewInput): WantedTable {
  const nodeIPs = addressesOf(namespace);
  const options = { masqueradeAll: settings.masqueradeAll, canRefuse: true, nodeIPs };
  const ports = plans.flatMap(plan => render(plan, options) ?? []);
  return wantedTable(ports, nodeAddresses(family, settings, nodeIPs));
}

function addressesOf(namespace: PreviewInput['namespace']): ReadonlySet<Ip> {
  const socket = RouteSocket.open({ namespace });
  try {
    return new Set(socket.addresses({}).map(({ ip }) => ip));
  } finally {
    socket.close();
  }
}

/** `- ` before a line that only the kernel has, `+ ` before one that it lacks. */
function differences(found: SocketTable, wanted: WantedTable): readonly string[] {
  const before = tableLines(found, foundPoolNames(found, wanted));
  const after = tableLines(wanted, wanted.poolNames);
  const [had, has] = [new Set(before), new Set(after)];
  return [
    ...before.filter(line => !has.has(line)).map(line => `- ${line}`),
    ...after.filter(line => !had.has(line)).map(line => `+ ${line}`),
  ];
}

function withHeader(family: Family, what: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`# ${family} sockets: ${what} inside connect()`, ...lines, ''].join('\n');
}
