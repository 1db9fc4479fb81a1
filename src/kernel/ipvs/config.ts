import { asU32, attributeMap, type MessageWriter } from '../netlink/index.ts';
import { IpvsAttribute } from './family.ts';

/** How many seconds ip_vs remembers an idle connection. In a request, 0 keeps the current value. */
export interface Config {
  readonly tcp: number;
  readonly tcpFin: number;
  readonly udp: number;
}

export function encodeConfig(writer: MessageWriter, { tcp, tcpFin, udp }: Config): void {
  writer
    .u32(IpvsAttribute.TIMEOUT_TCP, tcp)
    .u32(IpvsAttribute.TIMEOUT_TCP_FIN, tcpFin)
    .u32(IpvsAttribute.TIMEOUT_UDP, udp);
}

/**
 * Decodes the answer to GET_CONFIG; `start` is where its attributes begin. Kernels without TCP or UDP leave them out.
 */
export function decodeConfig(body: Buffer, start = 0): Config {
  const attributes = attributeMap(body, start);
  return {
    tcp: asU32(attributes.get(IpvsAttribute.TIMEOUT_TCP)) ?? 0,
    tcpFin: asU32(attributes.get(IpvsAttribute.TIMEOUT_TCP_FIN)) ?? 0,
    udp: asU32(attributes.get(IpvsAttribute.TIMEOUT_UDP)) ?? 0,
  };
}

export function printConfig({ tcp, tcpFin, udp }: Config): string {
  return `--set ${tcp} ${tcpFin} ${udp}`;
}
