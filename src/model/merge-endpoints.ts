import type { Protocol } from '../api/index.ts';
import type { Endpoint } from './endpoint.ts';
import type { SlicePort, SliceRecord } from './slice-record.ts';

/** The endpoints that all slices of a Service give for one of its ports, sorted by text, each once. Never empty. */
export interface PortEndpoints {
  readonly name: string;
  readonly protocol: Protocol;
  readonly endpoints: readonly Endpoint[];
}

/** Slices must come in one order whatever the order of events was, for it decides between conflicting duplicates. */
export function mergeEndpoints(slices: readonly SliceRecord[]): readonly PortEndpoints[] {
  const [first] = slices;
  // The usual case costs no memory: one slice, in order.
  if (first && slices.length === 1 && isInOrder(first)) return first.ports;
  const lists = new Map<string, SlicePort[]>();
  for (const slice of slices) {
    for (const port of slice.ports) {
      const identity = `${port.protocol} ${port.name}`;
      const same = lists.get(identity);
      if (same) same.push(port);
      else lists.set(identity, [port]);
    }
  }
  const merged = Array.from(lists.values(), union);
  return merged.filter(({ endpoints }) => endpoints.length > 0);
}

function union(ports: readonly SlicePort[]): PortEndpoints {
  const byText = new Map<string, Endpoint>();
  for (const { endpoints } of ports) {
    for (const endpoint of endpoints) {
      // While a pod's address moves between slices it is in two of them; the one that is not going away is right.
      if (!endpoint.terminating || !byText.has(endpoint.text)) byText.set(endpoint.text, endpoint);
    }
  }
  const endpoints = [...byText.values()].sort((a, b) => compareTexts(a.text, b.text));
  const [{ name, protocol } = { name: '', protocol: 'TCP' as const }] = ports;
  return { name, protocol, endpoints };
}

function isInOrder({ ports }: SliceRecord): boolean {
  const [port] = ports;
  return ports.length === 1 && port !== undefined && port.endpoints.length > 0 && isStrictlySorted(port.endpoints);
}

function isStrictlySorted(endpoints: readonly Endpoint[]): boolean {
  for (let i = 1; i < endpoints.length; i++) {
    const before = endpoints[i - 1];
    const endpoint = endpoints[i];
    if (before && endpoint && before.text >= endpoint.text) return false;
  }
  return true;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
