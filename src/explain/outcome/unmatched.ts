import { objectKey, type Service } from '../../api/index.ts';
import { cidrContains, familyOf, type Ip, joinHostPort, parseCidr, parseIp } from '../../net/index.ts';
import { type PlannedFrontend, planName } from '../../plan/index.ts';
import type { Outcome, ReasonCode } from '../outcome.ts';
import { elsewhere } from './frontend-outcome.ts';
import { isNodeIP, type OutcomeInput } from './question.ts';

/** What a connection to an address and port gets that no Service has. */
export function unmatchedOutcome(input: OutcomeInput): Outcome {
  const { destination, frontends } = input;
  const { ip, port, protocol } = destination;
  const known = frontends.frontendsWithIP(ip);
  if (known.length > 0) return unknownPort(input, known);
  if (isNodeIP(input, ip)) {
    return elsewhere(
      input,
      input,
      'node-address',
      `${ip} is an address of the node, and no node port is ${port}/${protocol}`,
    );
  }
  const mentioned = mentionOf(input);
  if (mentioned) return elsewhere(input, input, mentioned.code, mentioned.text);
  if (isInServiceCIDR(input, ip)) return unallocated(input);
  return elsewhere(input, input, 'no-service', `no Service has the address ${ip}`);
}

function unknownPort(input: OutcomeInput, known: readonly PlannedFrontend[]): Outcome {
  const { destination, mode } = input;
  const ports = known.map(({ plan, frontend }) => `${frontend.port}/${plan.port.protocol} (${planName(plan)})`);
  const reason = `${destination.ip} has no port ${destination.port}/${destination.protocol}, only ${ports.join(', ')}`;
  const isClusterIP = known.some(({ frontend }) => frontend.kind === 'ClusterIP');
  const { rejectsUnknownPorts: where } = mode.behaviour;
  const isRejected = where === 'at-all-addresses' || (where === 'at-cluster-ips' && isClusterIP);
  // The node has the address on a link of its own, whose ports are not those of Services.
  if (isRejected && !isNodeIP(input, destination.ip)) return { kind: 'refused', code: 'unknown-port', reason };
  return elsewhere(input, input, 'unknown-port', reason);
}

function isInServiceCIDR({ settings }: OutcomeInput, ip: Ip): boolean {
  const cidrs = settings.serviceCIDRs.flatMap(text => parseCidr(text) ?? []);
  return cidrs.some(cidr => familyOf(cidr.address) === familyOf(ip) && cidrContains(cidr, ip));
}

function unallocated(input: OutcomeInput): Outcome {
  const { ip } = input.destination;
  const code = 'unallocated-cluster-ip';
  const reason = `${ip} is in the range of cluster IPs, and no Service that this proxy serves has it`;
  return input.mode.behaviour.dropsUnallocatedClusterIPs
    ? { kind: 'silent', code, reason: `${reason}: the packet is dropped` }
    : elsewhere(input, input, code, reason);
}

/** Why this proxy serves nothing at an address that a Service mentions. */
function mentionOf({
  services,
  destination,
}: OutcomeInput): { readonly code: ReasonCode; readonly text: string } | undefined {
  if (!services) return undefined;
  for (const service of services()) {
    const text = mentionIn(service, destination.ip);
    if (text) return { ...text, text: `${joinHostPort(destination.ip, destination.port)}: ${text.text}` };
  }
  return undefined;
}

function mentionIn(
  { metadata, spec, status }: Service,
  ip: Ip,
): { readonly code: ReasonCode; readonly text: string } | undefined {
  const key = objectKey(metadata);
  const ingress = status.loadBalancer.ingress.find(each => parseIp(each.ip) === ip);
  if (ingress?.ipMode === 'Proxy') {
    const text = `the load balancer of Service ${key} handles its address itself (ipMode Proxy)`;
    return { code: 'load-balancer-proxy', text };
  }
  if (spec.externalIPs.some(text => parseIp(text) === ip)) {
    return {
      code: 'external-ip-not-allowed',
      text: `an external IP of Service ${key}, which this proxy does not serve`,
    };
  }
  return undefined;
}
