import { KernelError } from '../errors.ts';
import { errnoName } from '../libc.ts';
import type { Ack } from '../netlink/index.ts';

/** Errors of ipset itself have numbers from 4096 on. */
const GENERAL_ERRORS: readonly (readonly [number, string, string])[] = [
  [4096, 'IPSET_ERR_PRIVATE', 'a private error'],
  [4097, 'IPSET_ERR_PROTOCOL', 'the kernel does not understand the message'],
  [4098, 'IPSET_ERR_FIND_TYPE', 'the kernel does not know the set type or its revision'],
  [4099, 'IPSET_ERR_MAX_SETS', 'no more sets can be created'],
  [4100, 'IPSET_ERR_BUSY', 'the set is in use by a rule or another set'],
  [4101, 'IPSET_ERR_EXIST_SETNAME2', 'the second set exists (rename) or does not exist (swap)'],
  [4102, 'IPSET_ERR_TYPE_MISMATCH', 'the sets are of different types'],
  [4103, 'IPSET_ERR_EXIST', 'the entry is in the set already (add) or is not in it (del, test)'],
  [4104, 'IPSET_ERR_INVALID_CIDR', 'the prefix length is not allowed'],
  [4105, 'IPSET_ERR_INVALID_NETMASK', 'the netmask is not allowed'],
  [4106, 'IPSET_ERR_INVALID_FAMILY', 'the set type does not support this family'],
  [4107, 'IPSET_ERR_TIMEOUT', 'the set was created without timeouts'],
  [4108, 'IPSET_ERR_REFERENCED', 'the set is in use and cannot be renamed'],
  [4109, 'IPSET_ERR_IPADDR_IPV4', 'an IPv4 address is expected'],
  [4110, 'IPSET_ERR_IPADDR_IPV6', 'an IPv6 address is expected'],
  [4111, 'IPSET_ERR_COUNTER', 'the set was created without counters'],
  [4112, 'IPSET_ERR_COMMENT', 'the set was created without comments'],
  [4113, 'IPSET_ERR_INVALID_MARKMASK', 'the mark mask is not allowed'],
  [4114, 'IPSET_ERR_SKBINFO', 'the set was created without skbinfo'],
];

/** Errors of set types have numbers from 4352 on. Different types use the same numbers. */
const HASH_ERRORS: readonly (readonly [number, string, string])[] = [
  [4352, 'IPSET_ERR_HASH_FULL', 'the set has as many entries as its maxelem allows'],
  [4353, 'IPSET_ERR_HASH_ELEM', 'a null entry cannot be in the set'],
  [4354, 'IPSET_ERR_INVALID_PROTO', 'the protocol is not allowed'],
  [4355, 'IPSET_ERR_MISSING_PROTO', 'the protocol is missing'],
  [4356, 'IPSET_ERR_HASH_RANGE_UNSUPPORTED', 'the set type does not support ranges'],
  [4357, 'IPSET_ERR_HASH_RANGE', 'the range is not allowed'],
];

const BITMAP_ERRORS: readonly (readonly [number, string, string])[] = [
  [4352, 'IPSET_ERR_BITMAP_RANGE', 'the entry is outside the range of the set'],
  [4353, 'IPSET_ERR_BITMAP_RANGE_SIZE', 'the range is too large'],
];

interface Meaning {
  readonly errno: string;
  readonly reason: string;
}

/** The meanings by the errno of an acknowledgement, which is `errno 4100` for a number without a name. */
function meaningsByErrno(rows: readonly (readonly [number, string, string])[]): ReadonlyMap<string, Meaning> {
  return new Map(rows.map(([number, errno, reason]) => [errnoName(number), { errno, reason }]));
}

const ANY_TYPE = meaningsByErrno(GENERAL_ERRORS);
const HASH = meaningsByErrno(HASH_ERRORS);
const BITMAP = meaningsByErrno(BITMAP_ERRORS);

/** The error for a request that the kernel refused, with ipset's name. Has our explanation if the kernel gives none. */
export function ipsetRefusalError(
  operation: string,
  { errno, message }: Pick<Ack, 'errno' | 'message'>,
  type?: string,
): KernelError {
  const ofType = type?.startsWith('bitmap:') ? BITMAP : HASH;
  const meaning = errno === undefined ? undefined : (ANY_TYPE.get(errno) ?? ofType.get(errno));
  return new KernelError('KERNEL_REFUSED', {
    operation,
    errno: meaning?.errno ?? errno,
    kernelMessage: message,
    reason: message === undefined ? (meaning?.reason ?? errnoReason(errno)) : undefined,
  });
}

/** True if the entry existed already (add) or did not exist (del, test). */
export function isExistError(ack: Ack): boolean {
  return ack.errno !== undefined && ANY_TYPE.get(ack.errno)?.errno === 'IPSET_ERR_EXIST';
}

function errnoReason(errno: string | undefined): string | undefined {
  if (errno === 'ENOENT') return 'there is no set with this name';
  return errno === 'EEXIST' ? 'there is another set with this name' : undefined;
}
