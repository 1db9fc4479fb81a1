import { createHash } from 'node:crypto';
import { base32 } from '../../lib/base32.ts';
import type { Endpoint } from '../../model/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';

/** nf_tables allows 256 bytes with the terminating zero; the longest prefix and some room are left for. */
const LONGEST = 240;

/** `HASH-ns/name/tcp/port`: what chains of one service port's own are named by, as upstream names them. */
export function servicePortBase({ service, port }: ServicePortPlan): string {
  return hashed(`${service}/${port.protocol.toLowerCase()}/${port.name}`);
}

/** The same and the endpoint: `…__10.0.0.1/80`. Chain names may have no colons, so IPv6 addresses have dots. */
export function endpointBase({ service, port }: ServicePortPlan, { ip, port: number }: Endpoint): string {
  return hashed(`${service}/${port.protocol.toLowerCase()}/${port.name}__${ip.replaceAll(':', '.')}/${number}`);
}

function hashed(text: string): string {
  const name = `${base32(createHash('sha256').update(text).digest()).slice(0, 8)}-${text}`;
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 3)}...`;
}
