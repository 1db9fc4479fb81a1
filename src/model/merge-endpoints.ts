import type { Protocol } from '../api/index.ts';
import { appendTo } from '../lib/append-to.ts';
import { compareTexts } from '../lib/compare-texts.ts';
import type { Endpoint } from './endpoint.ts';
import type { SlicePort, SliceRecord } from './slice-record.ts';

/** The endpoints of one port from all slices of a Service, sorted by text, each once. Never empty. */
export interface PortEndpoints {
  readonly name: string;
  readonly protocol: Protocol;
  readonly endpoints: readonly Endpoint[];
}

/**
 * The caller sorts the slices. Their order decides between duplicates, so it must not depend on the order of events.
 */
export function mergeEndpoints(slices: readonly SliceRecord[]): readonly PortEndpoints[] {
  const [first] = slices;
  // The usual case is one sorted slice, and takes no memory.
  if (first && slices.length === 1 && isSorted(first)) return first.ports;
  const lists = new Map<string, SlicePort[]>();
  for (const slice of slices) {
    for (const port of slice.ports) {
      appendTo(lists, `${port.protocol} ${port.name}`, port);
    }
  }
  const merged = Array.from(lists.values(), union);
  return merged.filter(({ endpoints }) => endpoints.length > 0);
}

function union(ports: readonly SlicePort[]): PortEndpoints {
  const byText = new Map<string, Endpoint>();
  for (const { endpoints } of ports) {
    for (const endpoint of endpoints) {
      // An endpoint that moves between slices is in two of them. The one that does not terminate is right.
      if (!endpoint.terminating || !byText.has(endpoint.text)) byText.set(endpoint.text, endpoint);
    }
  }
  const endpoints = [...byText.values()].sort((a, b) => compareTexts(a.text, b.text));
  const [{ name, protocol } = { name: '', protocol: 'TCP' as const }] = ports;
  return { name, protocol, endpoints };
}

function isSorted({ ports }: SliceRecord): boolean {
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
