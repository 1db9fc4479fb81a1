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
interface Mention {
  readonly code: ReasonCode;
  readonly text: string;
}

function mentionOf({ services, destination }: OutcomeInput): Mention | undefined {
  if (!services) return undefined;
  for (const service of services()) {
    const found = mentionIn(service, destination.ip);
    if (found) return { code: found.code, text: `${joinHostPort(destination.ip, destination.port)}: ${found.text}` };
  }
  return undefined;
}

/** There are many Services, and few have such addresses. */
function mentionIn({ metadata, spec, status }: Service, ip: Ip): Mention | undefined {
  const { ingress } = status.loadBalancer;
  if (ingress.length === 0 && spec.externalIPs.length === 0) return undefined;
  if (ingress.some(each => each.ipMode === 'Proxy' && parseIp(each.ip) === ip)) {
    const text = `the load balancer of Service ${objectKey(metadata)} handles its address itself (ipMode Proxy)`;
    return { code: 'load-balancer-proxy', text };
  }
  if (spec.externalIPs.some(text => parseIp(text) === ip)) {
    const text = `an external IP of Service ${objectKey(metadata)}, which this proxy does not serve`;
    return { code: 'external-ip-not-allowed', text };
  }
  return undefined;
}
