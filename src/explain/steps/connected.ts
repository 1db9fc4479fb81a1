import { Breaks } from '../../lib/breaks.ts';
import type { SocketReading } from '../../modes/index.ts';
import { joinHostPort } from '../../net/index.ts';
import { planId, planName, type ServicePortPlan } from '../../plan/index.ts';
import type { Facts } from '../facts.ts';
import { counted, type Finding, finding } from '../finding.ts';
import { endpointUses, socketOwners } from '../socket-owner.ts';
import type { MetFrontend } from '../target.ts';

const MAX_LINES = 10;

/** The sockets that are connected to the service port now. Undefined if the mode does not lead sockets. */
export async function connectedStep({ plan, protocol }: MetFrontend, facts: Facts): Promise<Finding | undefined> {
  if (protocol !== 'TCP') return undefined;
  const reading = await facts.kernel?.sockets?.();
  if (!reading) return undefined;
  const { incomplete } = reading;
  if (incomplete !== undefined && reading.count === 0) {
    return finding('connected', 'note', `It is not known who is connected: ${incomplete}.`, {
      data: { incomplete },
    });
  }
  const endpoints = await countedEndpoints(plan, reading, facts);
  const sockets = endpoints.reduce((sum, each) => sum + each.sockets, 0);
  const gone = endpoints.filter(({ use }) => use === 'gone');
  const details = [
    ...endpoints.slice(0, MAX_LINES).map(endpointLine),
    ...(endpoints.length > MAX_LINES ? [`and ${endpoints.length - MAX_LINES} more (-o json has all)`] : []),
    ...(incomplete === undefined ? [] : [`Not everything was read: ${incomplete}.`]),
  ];
  const ofGone = gone.reduce((sum, each) => sum + each.sockets, 0);
  const text = `${connectedText(sockets)} to ${planName(plan)} now${ofGone === 0 ? '' : `, ${ofGone} of them to endpoints that are gone`}.`;
  return finding('connected', ofGone === 0 ? 'good' : 'note', text, {
    details,
    data: { sockets, endpoints, incomplete },
  });
}

interface CountedEndpoint {
  readonly endpoint: string;
  readonly use: ReturnType<ReturnType<typeof endpointUses>>;
  readonly sockets: number;
}

/** Those with the most sockets first. */
async function countedEndpoints(
  plan: ServicePortPlan,
  { sockets }: SocketReading,
  facts: Facts,
): Promise<readonly CountedEndpoint[]> {
  const ownerOf = socketOwners(facts);
  const useOf = endpointUses(facts);
  const breaks = new Breaks();
  const id = planId(plan);
  const counts = new Map<string, number>();
  for (const socket of sockets) {
    if (breaks.isDue) await breaks.take();
    const owner = ownerOf(socket)?.plan;
    if (!owner || planId(owner) !== id) continue;
    const endpoint = joinHostPort(socket.endpoint.ip, socket.endpoint.port);
    counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  }
  return [...counts]
    .map(([endpoint, count]) => ({ endpoint, use: useOf(plan, endpoint), sockets: count }))
    .sort((a, b) => b.sockets - a.sockets);
}

function connectedText(sockets: number): string {
  if (sockets === 0) return 'No socket is connected';
  return `${counted(sockets, 'socket')} ${sockets === 1 ? 'is' : 'are'} connected`;
}

const USE_TEXTS = {
  used: '',
  unused: '; it gets no new connections',
  gone: '; no EndpointSlice has it any more',
};

function endpointLine({ endpoint, use, sockets }: CountedEndpoint): string {
  return `${endpoint}: ${connectedText(sockets)} to it now${USE_TEXTS[use]}`;
}
