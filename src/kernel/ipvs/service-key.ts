import { type Family, familyOf, type Ip, joinHostPort } from '../../net/index.ts';
import { asU16, asU16BE, asU32, type MessageWriter } from '../netlink/index.ts';
import { addressBytes, addressFromBytes, familyFromNumber, familyNumber, IpvsAttribute } from './family.ts';

export const KeyAttribute = { AF: 1, PROTOCOL: 2, ADDRESS: 3, PORT: 4, FWMARK: 5 } as const;

const PROTOCOLS = { TCP: 6, UDP: 17, SCTP: 132 } as const;
export type IpvsProtocol = keyof typeof PROTOCOLS;

/** Identifies a virtual service: by the address that packets go to, or by the mark that they carry. */
export type ServiceKey =
  | { readonly kind: 'address'; readonly protocol: IpvsProtocol; readonly address: Ip; readonly port: number }
  | { readonly kind: 'fwmark'; readonly family: Family; readonly fwmark: number };

export function keyFamily(key: ServiceKey): Family {
  return key.kind === 'address' ? familyOf(key.address) : key.family;
}

/** Writes the attributes of the key. The caller has begun the nested service. */
export function encodeKey(writer: MessageWriter, key: ServiceKey): void {
  writer.u16(KeyAttribute.AF, familyNumber(keyFamily(key)));
  switch (key.kind) {
    case 'address':
      writer.u16(KeyAttribute.PROTOCOL, PROTOCOLS[key.protocol]);
      writer.data(KeyAttribute.ADDRESS, addressBytes(key.address)).u16BE(KeyAttribute.PORT, key.port);
      return;
    case 'fwmark':
      writer.u32(KeyAttribute.FWMARK, key.fwmark);
  }
}

/** Writes a service with its key only, for commands that do not create or edit the service. */
export function encodeServiceKey(writer: MessageWriter, key: ServiceKey): void {
  const nest = writer.nest(IpvsAttribute.SERVICE);
  encodeKey(writer, key);
  writer.close(nest);
}

export function decodeKey(attributes: ReadonlyMap<number, Buffer>): ServiceKey | undefined {
  const family = familyFromNumber(asU16(attributes.get(KeyAttribute.AF)));
  if (!family) return undefined;
  const fwmark = asU32(attributes.get(KeyAttribute.FWMARK));
  if (fwmark) return { kind: 'fwmark', family, fwmark };
  const protocol = protocolFromNumber(asU16(attributes.get(KeyAttribute.PROTOCOL)));
  const address = addressFromBytes(family, attributes.get(KeyAttribute.ADDRESS));
  const port = asU16BE(attributes.get(KeyAttribute.PORT));
  if (!protocol || !address || port === undefined) return undefined;
  return { kind: 'address', protocol, address, port };
}

/**
 * `-t 10.96.0.1:80`, `-u [fd00::1]:53`, `--sctp-service …`, `-f 1`, `-f 1 -6`. Two keys are equal if their texts are.
 */
export function printKey(key: ServiceKey): string {
  switch (key.kind) {
    case 'address':
      return `${OPTIONS[key.protocol]} ${joinHostPort(key.address, key.port)}`;
    case 'fwmark':
      return `-f ${key.fwmark}${key.family === 'IPv6' ? ' -6' : ''}`;
  }
}

const OPTIONS = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' } as const;

function protocolFromNumber(number: number | undefined): IpvsProtocol | undefined {
  switch (number) {
    case PROTOCOLS.TCP:
      return 'TCP';
    case PROTOCOLS.UDP:
      return 'UDP';
    case PROTOCOLS.SCTP:
      return 'SCTP';
    default:
      return undefined;
  }
}
