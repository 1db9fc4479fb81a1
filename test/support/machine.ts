import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { writeSysctl } from '../../src/kernel/sysctl.ts';
import { findOtherRules, type OtherRules, type OtherRulesOptions } from '../../src/machine/index.ts';
import { familyOf, type Ip } from '../../src/net/index.ts';
import { createNodeNamespace } from './namespaces.ts';
import { runNftScript } from './run-in.ts';

/** Runs the work on a node that forwards packets. */
export async function onNode(work: (node: NetworkNamespace) => Promise<void>): Promise<void> {
  const node = createNodeNamespace();
  try {
    writeSysctl('net/ipv4/ip_forward', 1, node);
    writeSysctl('net/ipv6/conf/all/forwarding', 1, node);
    await work(node);
  } finally {
    node.close();
  }
}

/** Runs a script of nft. nft 1.0.6 wants a line end between a statement or a block and a closing brace. */
export function addRules(node: NetworkNamespace, script: string): void {
  runNftScript(node, script.replaceAll(/(\}|drop|;) *(?=\})/g, '$1\n'));
}

/** A path with defaults: the pod 10.244.0.5 calls 10.96.0.10:80, and the proxy chooses 10.244.1.9:8080. */
export interface TestPath {
  readonly packet?: { readonly source?: string | undefined; readonly destination: string; readonly port: number };
  readonly endpoint?: { readonly ip: string; readonly port: number } | undefined;
  readonly isFromNode?: boolean;
  readonly translatedBy?: 'rules' | 'virtual server';
  readonly isFromPod?: boolean;
  readonly masquerade?: { readonly mark: number; readonly isMarked: boolean };
}

export function findIn(
  namespace: NetworkNamespace,
  path: TestPath,
  options: OtherRulesOptions = {},
): Promise<OtherRules> {
  const { packet = { destination: '10.96.0.10', port: 80 }, isFromNode = false } = path;
  const { ip, port } = ('endpoint' in path ? path.endpoint : { ip: '10.244.1.9', port: 8080 }) ?? {};
  const source = isFromNode ? '192.168.0.2' : '10.244.0.5';
  const destination = packet.destination as Ip;
  return findOtherRules(
    {
      packet: {
        family: familyOf(destination),
        protocol: 'TCP',
        source: ('source' in packet ? packet.source : source) as Ip | undefined,
        destination,
        port: packet.port,
      },
      endpoint: ip === undefined || port === undefined ? undefined : { ip: ip as Ip, port },
      isFromNode,
      translatedBy: path.translatedBy,
      isFromPod: path.isFromPod,
      masquerade: path.masquerade,
    },
    { namespace, timeoutMs: 60_000, ...options },
  );
}

/** Each finding as one line: `guard fwd may drop (input interface): iifname "eth1" drop`. */
export function lines({ findings }: OtherRules): readonly string[] {
  return findings.map(finding => {
    const { certainty, unknown, text } = finding;
    const place = 'table' in finding ? `${finding.table} ${finding.chain}` : finding.kind;
    return `${place} ${certainty}${unknown.length > 0 ? ` (${unknown.join(', ')})` : ''}: ${text}`;
  });
}
