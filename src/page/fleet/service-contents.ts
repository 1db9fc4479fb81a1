import { createHash } from 'node:crypto';
import type { PortDetail, ServiceDetail } from '../../inspect/index.ts';
import { compareTexts } from '../../lib/compare-texts.ts';
import type { KnownPort, KnownService, UsedEndpoints } from './rows.ts';

/** What the node's objects say about the Service. Equal on all nodes that have seen the same events. */
export function knownService({ ports }: ServiceDetail): KnownService {
  return { kind: 'known', ports: ports.map(knownPort).sort(byId) };
}

export function usedEndpoints({ ports }: ServiceDetail): UsedEndpoints {
  const used = ports.map(port => ({
    id: portId(port),
    cluster: addresses(port, 'clusterPolicy'),
    local: addresses(port, 'localPolicy'),
  }));
  return { kind: 'used', ports: used.sort(byId) };
}

export function digestOf(contents: KnownService | UsedEndpoints): string {
  return createHash('sha256').update(JSON.stringify(contents)).digest('base64url').slice(0, 22);
}

function knownPort(port: PortDetail): KnownPort {
  return {
    id: portId(port),
    internalTrafficPolicy: port.internalTrafficPolicy,
    externalTrafficPolicy: port.externalTrafficPolicy,
    affinitySeconds: port.affinitySeconds,
    frontends: port.frontends
      .map(({ kind, address = '*', port: number, sourceRanges = [] }) =>
        [`${kind} ${address} ${number}`, ...sourceRanges].join(' '),
      )
      .sort(compareTexts),
    endpoints: port.endpoints
      .map(({ address, node, hints, ready, serving, terminating }) => ({
        address,
        node,
        hints,
        ready,
        serving,
        terminating,
      }))
      .sort((a, b) => compareTexts(a.address, b.address)),
  };
}

function portId({ family, name, protocol, frontends }: PortDetail): string {
  return `${family} ${name || frontends[0]?.port}/${protocol}`;
}

function addresses({ endpoints }: PortDetail, policy: 'clusterPolicy' | 'localPolicy'): readonly string[] | undefined {
  const asked = endpoints.filter(endpoint => endpoint[policy] !== undefined);
  if (asked.length === 0) return undefined;
  return asked
    .filter(endpoint => endpoint[policy]?.used)
    .map(({ address }) => address)
    .sort(compareTexts);
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return compareTexts(a.id, b.id);
}
