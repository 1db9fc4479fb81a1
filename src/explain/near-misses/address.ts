import { cidrContains, familyOf, type Ip, isLoopback, joinHostPort, parseCidr } from '../../net/index.ts';
import { type PlannedFrontend, planName } from '../../plan/index.ts';
import type { AddressUse } from '../connection-outcome.ts';
import type { Facts } from '../facts.ts';
import { type Finding, finding, listed } from '../finding.ts';
import { nodeIPsOf } from '../node-addresses.ts';
import type { Destination } from '../outcome/index.ts';
import type { Outcome } from '../outcome.ts';
import { findEndpoints, targetName } from '../pods.ts';
import { protocolSuffix } from './service.ts';

const MAX_ENDPOINTS = 5;

export interface NoFrontend {
  readonly finding: Finding;
  /** `ns/name` of the Service that the address probably belongs to. */
  readonly service?: string | undefined;
}

export function addressOfOtherFamily(ip: Ip, facts: Facts): Finding {
  const text = `${ip} is ${familyOf(ip)}, and the proxy of node ${facts.nodeName} serves only ${listed(facts.families)}.`;
  const command = `kubectl get node ${facts.nodeName} -o jsonpath='{.status.addresses}'`;
  const next = { text: 'check which families the node has', command };
  return finding('service', 'bad', text, { data: { ip, families: facts.families }, next });
}

/** No Service has this address and port: says what else has the address. */
export async function noFrontend(
  destination: Destination,
  { frontends }: AddressUse,
  facts: Facts,
): Promise<NoFrontend> {
  const { ip } = destination;
  if (frontends.length > 0) return otherPorts(destination, frontends);
  if (isLoopback(ip) || nodeIPsOf(facts).includes(ip)) return { finding: nodeAddress(destination, facts) };
  const endpoint = await endpointAddress(destination, facts);
  if (endpoint) return endpoint;
  return { finding: unknownAddress(destination, facts) };
}

function otherPorts({ ip, port, protocol }: Destination, found: readonly PlannedFrontend[]): NoFrontend {
  const [first] = found;
  const at = found.map(({ plan, frontend }) => `${planName(plan)} ${frontend.port}/${plan.port.protocol}`);
  const samePort = found.find(({ frontend }) => frontend.port === port);
  const text = `No Service has ${joinHostPort(ip, port)}/${protocol}, but ${at.length === 1 ? 'one has' : 'some have'} this address.`;
  const meant = samePort ?? first;
  const command =
    meant && `kube-proxy explain ${joinHostPort(ip, meant.frontend.port)}${protocolSuffix(meant.plan.port)}`;
  return {
    service: first?.plan.service,
    finding: finding('service', 'bad', text, {
      details: [`At ${ip}: ${listed(at, 10)}.`],
      data: { ip, port, protocol, found: at },
      next: { text: 'use a port that the Service has', ...(command === undefined ? {} : { command }) },
    }),
  };
}

function nodeAddress({ ip, port, protocol }: Destination, facts: Facts): Finding {
  const text = `${ip} is an address of node ${facts.nodeName}, and no Service has the node port ${port}/${protocol}.`;
  return finding('service', 'unknown', text, {
    details: ['A program that listens at this port gets the connection. The proxy has no part in it.'],
    data: { ip, port, protocol, isNode: true },
    next: { text: 'see what listens there, on the node', command: `${listenersCommand(protocol)} 'sport = :${port}'` },
  });
}

/** Lists the programs of the node that listen. */
export function listenersCommand(protocol: Destination['protocol']): string {
  const letter = protocol === 'UDP' ? 'u' : protocol === 'SCTP' ? 'S' : 't';
  return `ss -ln${letter}p`;
}

async function endpointAddress({ ip, port, protocol }: Destination, facts: Facts): Promise<NoFrontend | undefined> {
  const found = await findEndpoints(facts.objects, ip, MAX_ENDPOINTS);
  const [first] = found;
  if (!first) return undefined;
  const services = [...new Set(found.flatMap(({ service }) => service ?? []))];
  const name = targetName(first.targetRef, '');
  const owner =
    services.length === 0
      ? `of EndpointSlice ${first.slice}`
      : `of ${services.length === 1 ? 'Service' : 'Services'} ${listed(services)}`;
  const text = `${ip} is the address of an endpoint ${owner}${name === '' ? '' : ` (${name})`}, and not of a Service.`;
  const [service] = services;
  return {
    finding: finding('service', 'unknown', text, {
      details: ['Connections to it go straight there. The proxy has no part in them.'],
      data: { ip, port, protocol, endpoints: found },
      next:
        service === undefined
          ? { text: 'try the endpoint from the node', command: `nc -vz ${ip} ${port}` }
          : { text: 'ask for the Service instead', command: `kube-proxy explain ${service}` },
    }),
  };
}

/** A Service names the address, but this proxy does not serve it. Undefined if no Service does. */
export function mentionedAddress(outcome: Outcome): Finding | undefined {
  if (outcome.kind !== 'elsewhere') return undefined;
  const { code, reason } = outcome;
  if (code === 'external-ip-not-allowed') {
    const next = {
      text: 'allow external IPs with the feature gate AllowServiceExternalIPs',
      command: 'kube-proxy help feature-gates',
    };
    return finding('service', 'bad', `${reason}.`, { data: outcome, next });
  }
  if (code !== 'load-balancer-proxy') return undefined;
  const next = { text: 'look at the load balancer', command: 'kubectl get services -A' };
  return finding('service', 'unknown', `${reason}.`, { data: outcome, next });
}

function unknownAddress({ ip, port, protocol }: Destination, facts: Facts): Finding {
  const range = facts.state.serviceCidrs.find(text => {
    const cidr = parseCidr(text);
    return cidr !== undefined && cidrContains(cidr, ip);
  });
  const data = { ip, port, protocol, serviceCidr: range };
  const next = { text: 'look for the address among all Services', command: `kubectl get services -A | grep -F ${ip}` };
  if (range !== undefined) {
    const text = `${ip} is in the service CIDR ${range}, and no Service has it.`;
    const details = ['The Service was probably deleted, or made again with another address.'];
    return finding('service', 'bad', text, { details, data, next });
  }
  const text = `${ip} is no address of a Service, of an endpoint or of node ${facts.nodeName}.`;
  return finding('service', 'unknown', text, { data, next });
}
