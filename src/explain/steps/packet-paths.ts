import type { PacketPath } from '../../machine/index.ts';
import type { KernelReading } from '../../modes/index.ts';
import { familyOf, isLoopback, joinHostPort } from '../../net/index.ts';
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
    path: { packet: packetOf(connection), isFromNode: isFromNode(connection), endpoint, translatedBy },
    to: joinHostPort(endpoint.ip, endpoint.port),
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
            path: { packet: packetOf(connection), isFromNode: isFromNode(connection), endpoint: { ip, port } },
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

function isFromNode({ detected }: Connection): boolean {
  return detected.caller.place === 'node';
}
