import type { Listener } from '../../machine/index.ts';
import { isUnspecified, joinHostPort } from '../../net/index.ts';
import type { KernelFacts } from '../facts.ts';
import { type Finding, finding, listed } from '../finding.ts';
import { listenersCommand } from '../near-misses/address.ts';
import type { Destination } from '../outcome/index.ts';
import type { Outcome } from '../outcome.ts';

/** The programs of the node that listen at the port. Only for addresses of the node. */
export async function listenersStep(
  { ip, port, protocol }: Destination,
  isNodePort: boolean,
  outcome: Outcome,
  kernel: KernelFacts,
): Promise<Finding | undefined> {
  if (!kernel.listeners) return undefined;
  const family = ip.includes(':') ? 'IPv6' : 'IPv4';
  const { listeners, incomplete } = await kernel.listeners({ family, protocol, port });
  const details = incomplete === undefined ? [] : [`Not everything was read: ${incomplete}.`];
  const data = { listeners, incomplete };
  if (outcome.kind === 'elsewhere' && outcome.at === 'node') {
    const here = listeners.filter(each => each.ip === ip || isUnspecified(each.ip));
    return answers(programsOf(here), { ip, port, protocol }, details, data);
  }
  if (!isNodePort) return undefined;
  const programs = programsOf(listeners.filter(({ isOwn }) => !isOwn));
  if (programs.length === 0) {
    return finding('listeners', 'good', `No other program of the node listens at port ${port}/${protocol}.`, {
      details,
      data,
    });
  }
  const text = `${listed(programs)} listens at the node port ${port}/${protocol}, too.`;
  const line = 'The Service answers at the addresses that accept node ports, and the program only at others.';
  return finding('listeners', 'note', text, { details: [line, ...details], data });
}

/** The proxy does not handle the connection, so a program of the node may. */
function answers(
  programs: readonly string[],
  { ip, port, protocol }: Destination,
  details: readonly string[],
  data: object,
): Finding {
  if (programs.length === 0) {
    const text = `No program of the node listens at ${joinHostPort(ip, port)}, so the kernel refuses the connection.`;
    const next = { text: 'see at which ports programs listen, on the node', command: listenersCommand(protocol) };
    return finding('listeners', 'bad', text, { details, data, next });
  }
  return finding('listeners', 'note', `${listed(programs)} listens there and gets the connection.`, { details, data });
}

function programsOf(listeners: readonly Listener[]): readonly string[] {
  return [...new Set(listeners.map(programText))];
}

function programText({ process }: Listener): string {
  return process ? `${process.name} (process ${process.pid})` : 'A program that the proxy cannot identify';
}
