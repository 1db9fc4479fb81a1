import { KernelError } from '../errors.ts';
import { errnoName } from '../libc.ts';
import type { Ack } from '../netlink/index.ts';

/** Errors of ipset's own, from 4096 on, and of its types, from 4352 on. */
const PRIVATE: readonly (readonly [number, string, string])[] = [
  [4096, 'IPSET_ERR_PRIVATE', 'a private error'],
  [4097, 'IPSET_ERR_PROTOCOL', 'the message is not one that the kernel understands'],
  [4098, 'IPSET_ERR_FIND_TYPE', 'the kernel does not know the type of set or its revision'],
  [4099, 'IPSET_ERR_MAX_SETS', 'no more sets can be created'],
  [4100, 'IPSET_ERR_BUSY', 'the set is in use by a rule or another set'],
  [4101, 'IPSET_ERR_EXIST_SETNAME2', 'the second set exists (rename) or does not (swap)'],
  [4102, 'IPSET_ERR_TYPE_MISMATCH', 'the sets are of different types'],
  [4103, 'IPSET_ERR_EXIST', 'the entry is in the set already (add) or is not in it (del, test)'],
  [4104, 'IPSET_ERR_INVALID_CIDR', 'the prefix length is not allowed'],
  [4105, 'IPSET_ERR_INVALID_NETMASK', 'the netmask is not allowed'],
  [4106, 'IPSET_ERR_INVALID_FAMILY', 'the type of set does not take this family'],
  [4107, 'IPSET_ERR_TIMEOUT', 'the set was created without timeouts'],
  [4108, 'IPSET_ERR_REFERENCED', 'the set is in use and cannot be renamed'],
  [4109, 'IPSET_ERR_IPADDR_IPV4', 'an IPv4 address is expected'],
  [4110, 'IPSET_ERR_IPADDR_IPV6', 'an IPv6 address is expected'],
  [4111, 'IPSET_ERR_COUNTER', 'the set was created without counters'],
  [4112, 'IPSET_ERR_COMMENT', 'the set was created without comments'],
  [4113, 'IPSET_ERR_INVALID_MARKMASK', 'the mark mask is not allowed'],
  [4114, 'IPSET_ERR_SKBINFO', 'the set was created without skbinfo'],
];

const OF_HASH: readonly (readonly [number, string, string])[] = [
  [4352, 'IPSET_ERR_HASH_FULL', 'the set has as many entries as its maxelem allows'],
  [4353, 'IPSET_ERR_HASH_ELEM', 'a null entry cannot be in the set'],
  [4354, 'IPSET_ERR_INVALID_PROTO', 'the protocol is not allowed'],
  [4355, 'IPSET_ERR_MISSING_PROTO', 'the protocol is missing'],
  [4356, 'IPSET_ERR_HASH_RANGE_UNSUPPORTED', 'the type of set takes no ranges'],
  [4357, 'IPSET_ERR_HASH_RANGE', 'the range is not allowed'],
];

const OF_BITMAP: readonly (readonly [number, string, string])[] = [
  [4352, 'IPSET_ERR_BITMAP_RANGE', 'the entry is outside of the range of the set'],
  [4353, 'IPSET_ERR_BITMAP_RANGE_SIZE', 'the range is too large'],
];

interface Meaning {
  readonly errno: string;
  readonly words: string;
}

/** Keyed by what an acknowledgement calls a number that has no name. */
function meanings(rows: readonly (readonly [number, string, string])[]): ReadonlyMap<string, Meaning> {
  return new Map(rows.map(([number, errno, words]) => [errnoName(number), { errno, words }]));
}

const ANY_TYPE = meanings(PRIVATE);
const HASH = meanings(OF_HASH);
const BITMAP = meanings(OF_BITMAP);

/** The kernel's refusal with ipset's name for the error, and its words for it unless the kernel has some itself. */
export function ipsetRefusal(
  operation: string,
  { errno, message }: Pick<Ack, 'errno' | 'message'>,
  type?: string,
): KernelError {
  const ofType = type?.startsWith('bitmap:') ? BITMAP : HASH;
  const meaning = errno === undefined ? undefined : (ANY_TYPE.get(errno) ?? ofType.get(errno));
  return new KernelError('KERNEL_REFUSED', {
    operation,
    errno: meaning?.errno ?? errno,
    kernelMessage: message ?? meaning?.words ?? plainWords(errno),
  });
}

/** True if the entry was there already (add) or was not there (del, test). */
export function isExist(ack: Ack): boolean {
  return ack.errno !== undefined && ANY_TYPE.get(ack.errno)?.errno === 'IPSET_ERR_EXIST';
}

function plainWords(errno: string | undefined): string | undefined {
  if (errno === 'ENOENT') return 'there is no set of this name';
  return errno === 'EEXIST' ? 'there is another set of this name' : undefined;
}
