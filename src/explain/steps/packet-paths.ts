import type { PacketPath } from '../../machine/index.ts';
import type { KernelReading } from '../../modes/index.ts';
import { familyOf, type Ip, isLoopback, joinHostPort } from '../../net/index.ts';
import type { DetectedCaller } from '../caller-detection.ts';
import type { Facts } from '../facts.ts';
import { nodeIPsOf } from '../node-addresses.ts';
import type { Outcome } from '../outcome.ts';
import { endpointsToReach } from '../reached-endpoints.ts';
import type { MetFrontend } from '../target.ts';

export interface Connection {
  readonly met: MetFrontend;
  readonly detected: DetectedCaller;
  readonly outcome: Outcome;
  readonly facts: Facts;
}

/** A path through this machine, and where it leads, in words. */
export interface NamedPath {
  readonly path: PacketPath;
  readonly to: string;
}

/** Rules or virtual servers replace the destination, so the packet itself goes to an endpoint. */
export function translatedPaths(connection: Connection): readonly NamedPath[] {
  const { met, outcome, facts } = connection;
  const translatedBy = facts.mode.behaviour.translatedBy === 'rules' ? 'rules' : 'virtual server';
  return endpointsToReach(met, outcome).map(endpoint => ({
    path: {
      packet: packetOf(connection),
      ...placeOf(connection),
      endpoint,
      masquerade: masqueradeOf(endpoint.text, connection),
      translatedBy,
    },
    to: joinHostPort(endpoint.ip, endpoint.port),
  }));
}

/** The socket connects to the endpoint itself. A pod that reaches itself sends no packet through the node. */
export function directPaths(connection: Connection): readonly NamedPath[] {
  const { met, detected, outcome } = connection;
  const { family, protocol } = met;
  const isInsidePod = (ip: Ip) => ip === detected.ip && detected.caller.place === 'pod';
  return endpointsToReach(met, outcome)
    .filter(({ ip }) => !isInsidePod(ip))
    .map(({ ip, port }) => ({
      path: {
        packet: { family, protocol, source: detected.ip, destination: ip, port },
        ...placeOf(connection),
        endpoint: undefined,
      },
      to: joinHostPort(ip, port),
    }));
}

/** The packet goes to the process of the mode, and the process makes a connection of its own to an endpoint. */
export function relayedPaths(connection: Connection, reading: KernelReading | undefined): readonly NamedPath[] {
  const { met, outcome, facts } = connection;
  const { family, protocol, frontend } = met;
  const ports = reading?.relayPorts ?? {};
  const port = ports[frontend.policy] ?? Object.values(ports)[0];
  const ip = nodeIPsOf(facts).find(each => familyOf(each) === family && !isLoopback(each));
  const arrival: NamedPath[] =
    port === undefined || ip === undefined
      ? []
      : [
          {
            path: { packet: packetOf(connection), ...placeOf(connection), endpoint: { ip, port } },
            to: `this proxy at ${joinHostPort(ip, port)}`,
          },
        ];
  const relayed = endpointsToReach(met, outcome).map(endpoint => {
    const packet = { family, protocol, source: undefined, destination: endpoint.ip, port: endpoint.port };
    return {
      path: { packet, isFromNode: true, endpoint: undefined },
      to: `${joinHostPort(endpoint.ip, endpoint.port)}`,
    };
  });
  return [...arrival, ...relayed];
}

function packetOf({ met: { family, protocol, ip, port }, detected }: Connection) {
  return { family, protocol, source: detected.ip, destination: ip, port };
}

function placeOf({ detected: { caller } }: Connection): Pick<PacketPath, 'isFromNode' | 'isFromPod'> {
  return {
    isFromNode: caller.place === 'node',
    isFromPod: caller.place === 'pod' && caller.isOnOtherNode !== true,
  };
}

/** Whether the proxy replaces the source says whether the packet has the mark for it. */
function masqueradeOf(endpoint: string, { met, outcome, facts }: Connection): PacketPath['masquerade'] {
  if (outcome.kind !== 'answered' || facts.mode.behaviour.marksMasqueraded !== true) return undefined;
  const reached = outcome.endpoints.find(({ text }) => text === endpoint);
  return reached && { mark: facts.settings(met.family).masqueradeMark, isMarked: reached.seenAs === 'node' };
}
