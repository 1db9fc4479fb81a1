import type { EndpointCount, SocketCounts } from '../../../../../inspect/index.ts';

/** Rows that are shown before the operator asks for all. */
export const FIRST_ROWS = 200;

export interface ConnectedRow {
  readonly id: string;
  readonly port: string;
  /** The pod, or the address if no EndpointSlice names the pod. */
  readonly endpoint: string;
  /** `ip:port`, if the endpoint is a pod. */
  readonly address: string | undefined;
  readonly sockets: number;
  /** `shop/cart-0: 3, node: 1 and 2 more` */
  readonly callers: string;
  /** Why new connections do not go there. Undefined if they do. */
  readonly leftOver: string | undefined;
}

/** The endpoints with the most sockets first. */
export function connectedRows({ endpoints }: Pick<SocketCounts, 'endpoints'>): readonly ConnectedRow[] {
  return [...endpoints].sort((a, b) => b.sockets - a.sockets).map(rowOf);
}

function rowOf({ port = '', endpoint, endpointPod, endpointUse, sockets, callers, callerCount }: EndpointCount) {
  const more = callerCount - callers.length;
  const names = callers.map(({ name, sockets: own }) => `${name}: ${own.toLocaleString('en')}`).join(', ');
  return {
    id: `${port} ${endpoint}`,
    port,
    endpoint: endpointPod ?? endpoint,
    address: endpointPod === undefined ? undefined : endpoint,
    sockets,
    callers: more > 0 ? `${names} and ${more.toLocaleString('en')} more` : names,
    leftOver: leftOverText(endpointUse),
  };
}

function leftOverText(use: EndpointCount['endpointUse']): string | undefined {
  if (use === 'gone') return 'gone: no EndpointSlice has it any more';
  return use === 'unused' ? 'gets no new connections' : undefined;
}

/** One line about all. */
export function connectedText({ sockets, endpoints, endpointCount }: SocketCounts): string {
  if (sockets === 0) return 'No socket of this node is connected to this Service.';
  const left = endpoints.filter(({ endpointUse }) => endpointUse === 'gone').length;
  const ofGone = left === 0 ? '' : `, ${left === 1 ? 'one of them' : `${left} of them`} gone`;
  const what = `${counted(sockets, 'socket')} of this node ${sockets === 1 ? 'is' : 'are'} connected`;
  return `${what} to ${counted(endpointCount, 'endpoint')}${ofGone}.`;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
