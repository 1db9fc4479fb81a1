import { createHash } from 'node:crypto';
import { MAX_COMMENT_BYTES } from '../../kernel/nftables/index.ts';
import { base32 } from '../../lib/base32.ts';
import type { Endpoint } from '../../model/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import { commentName } from '../comment-name.ts';

/** nf_tables allows 256 bytes, including the terminating zero. This leaves room for the longest prefix. */
const MAX_LENGTH = 240;

/** nft takes these characters for something else than a part of a name. Names that an API server accepts have none. */
const UNSAFE = /[^\w./-]/g;

/** `HASH-ns/name/tcp/port`: names of a service port's own chains and sets end like this, as upstream's do. */
export function servicePortBase({ service, port }: ServicePortPlan): string {
  return hashed(`${service}/${port.protocol.toLowerCase()}/${port.name}`);
}

/** As `servicePortBase`, with the endpoint: `…__10.0.0.1/80`. Chain names have no colons: IPv6 addresses get dots. */
export function endpointBase({ service, port }: ServicePortPlan, { ip, port: number }: Endpoint): string {
  return hashed(`${service}/${port.protocol.toLowerCase()}/${port.name}__${ip.replaceAll(':', '.')}/${number}`);
}

/** The comment of an element, exactly as the kernel lists it: a longer one would look like drift. */
export function elementComment(plan: ServicePortPlan): string {
  // The name is ASCII, so each character is one byte.
  return commentName(plan).slice(0, MAX_COMMENT_BYTES);
}

function hashed(text: string): string {
  const name = `${base32(createHash('sha256').update(text).digest()).slice(0, 8)}-${text.replace(UNSAFE, '_')}`;
  return name.length <= MAX_LENGTH ? name : `${name.slice(0, MAX_LENGTH - 3)}...`;
}
