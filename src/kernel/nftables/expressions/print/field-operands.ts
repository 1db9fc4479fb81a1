import type { Ct } from '../ct.ts';
import type { Fib } from '../fib.ts';
import type { Meta, MetaKey } from '../meta.ts';
import type { Payload } from '../payload.ts';
import type { Socket } from '../socket.ts';
import { type Field, fieldAt, headerAt } from './fields.ts';
import type { FieldOperand } from './operand.ts';
import { dropImpliedMatch, type PrintState } from './print-state.ts';
import type { Order, ValueType } from './value.ts';

type FieldInfo = readonly [text: string, type: ValueType, size: number, order?: Order];

const META: { readonly [K in MetaKey]: FieldInfo } = {
  len: ['meta length', 'integer', 4],
  protocol: ['meta protocol', 'ether_type', 2, 'network'],
  priority: ['meta priority', 'tc_handle', 4],
  mark: ['meta mark', 'mark', 4],
  iif: ['iif', 'iface_index', 4],
  oif: ['oif', 'iface_index', 4],
  iifname: ['iifname', 'string', 16],
  oifname: ['oifname', 'string', 16],
  iiftype: ['meta iiftype', 'iface_type', 2],
  oiftype: ['meta oiftype', 'iface_type', 2],
  skuid: ['meta skuid', 'integer', 4],
  skgid: ['meta skgid', 'integer', 4],
  nftrace: ['meta nftrace', 'integer', 1],
  rtclassid: ['meta rtclassid', 'integer', 4],
  secmark: ['meta secmark', 'integer', 4],
  nfproto: ['meta nfproto', 'nf_proto', 1],
  l4proto: ['meta l4proto', 'inet_proto', 1],
  bri_iifname: ['meta ibrname', 'string', 16],
  bri_oifname: ['meta obrname', 'string', 16],
  pkttype: ['meta pkttype', 'pkt_type', 1],
  cpu: ['meta cpu', 'integer', 4],
  iifgroup: ['iifgroup', 'devgroup', 4],
  oifgroup: ['oifgroup', 'devgroup', 4],
  cgroup: ['meta cgroup', 'integer', 4],
  prandom: ['meta random', 'integer', 4, 'network'],
  secpath: ['meta ipsec', 'boolean', 1],
  iifkind: ['meta iifkind', 'string', 16],
  oifkind: ['meta oifkind', 'string', 16],
  time: ['meta time', 'integer', 8],
  day: ['meta day', 'integer', 1],
  hour: ['meta hour', 'integer', 4],
  sdif: ['meta sdif', 'iface_index', 4],
  sdifname: ['meta sdifname', 'string', 16],
};

const CT: { readonly [K in Ct['key']]: FieldInfo } = {
  state: ['state', 'ct_state', 4],
  direction: ['direction', 'ct_dir', 1],
  status: ['status', 'ct_status', 4],
  mark: ['mark', 'mark', 4],
  secmark: ['secmark', 'integer', 4],
  expiration: ['expiration', 'time', 4],
  helper: ['helper', 'string', 16],
  l3protocol: ['l3proto', 'nf_proto', 1],
  src: ['saddr', 'hex', 16, 'network'],
  dst: ['daddr', 'hex', 16, 'network'],
  protocol: ['protocol', 'inet_proto', 1],
  proto_src: ['proto-src', 'inet_service', 2, 'network'],
  proto_dst: ['proto-dst', 'inet_service', 2, 'network'],
  label: ['label', 'hex', 16],
  packets: ['packets', 'integer', 8],
  bytes: ['bytes', 'integer', 8],
  avgpkt: ['avgpkt', 'integer', 8],
  zone: ['zone', 'integer', 2],
  event: ['event', 'ct_event', 4],
  src_ip: ['ip saddr', 'ipv4_addr', 4, 'network'],
  dst_ip: ['ip daddr', 'ipv4_addr', 4, 'network'],
  src_ip6: ['ip6 saddr', 'ipv6_addr', 16, 'network'],
  dst_ip6: ['ip6 daddr', 'ipv6_addr', 16, 'network'],
  id: ['id', 'integer', 4, 'network'],
};

const SOCKET: { readonly [K in Socket['key']]: FieldInfo } = {
  transparent: ['socket transparent', 'integer', 1],
  mark: ['socket mark', 'mark', 4],
  wildcard: ['socket wildcard', 'integer', 1],
  cgroupv2: ['socket cgroupv2', 'integer', 8],
};

export function metaField(key: Meta['key']): FieldOperand {
  return field(META[key]);
}

export function ctField(key: Ct['key'], dir?: Ct['dir']): FieldOperand {
  const [text, ...info] = CT[key];
  return field([`ct ${dir ? `${dir} ` : ''}${text}`, ...info]);
}

export function socketField({ key, level }: Socket): FieldOperand {
  const [text, ...info] = SOCKET[key];
  return field([`${text}${level === undefined ? '' : ` level ${level}`}`, ...info]);
}

export function fibField({ selectors, result, present }: Fib): FieldOperand {
  const text = `fib ${selectors.join(' . ')} ${result}`;
  if (present) return field([text, 'boolean', 1]);
  switch (result) {
    case 'oif':
      return field([text, 'iface_index', 4]);
    case 'oifname':
      return field([text, 'string', 16]);
    case 'type':
      return field([text, 'fib_addrtype', 4]);
  }
}

/** A number that the kernel computes: numgen or a hash. */
export function numberField(text: string): FieldOperand {
  return field([text, 'integer', 4]);
}

/** Bytes of the packet. They have a field's name if the rule has already matched the packet's protocols. */
export function payloadField(state: PrintState, payload: Payload): FieldOperand {
  const found = fieldFrom(state, payload, payload.offset * 8);
  if (!found || found.bits % 8 !== 0 || found.bits < payload.len * 8) {
    return { ...field([rawText(payload), 'hex', payload.len, 'network']), payload };
  }
  dropMatchesImpliedBy(state, payload);
  return { ...field([found.text, found.type, found.bits / 8, 'network']), payload };
}

/** The field that begins at a bit of the payload's header. */
export function fieldFrom(state: PrintState, { base }: Payload, offset: number): Field | undefined {
  const header = headerAt(base, state.network, state.transport);
  return header && fieldAt(header, offset);
}

/** The name of a field contains its protocol, so nft omits an earlier match on that protocol. `th` contains none. */
export function dropMatchesImpliedBy(state: PrintState, { base }: Payload): void {
  const header = headerAt(base, state.network, state.transport);
  if (header === 'th' || base === 'inner') return;
  dropImpliedMatch(state, base);
  if (header === 'icmp' || header === 'icmpv6') dropImpliedMatch(state, 'network');
}

const RAW: { readonly [K in Payload['base']]: string } = { link: 'll', network: 'nh', transport: 'th', inner: 'ih' };

/** The text for bytes without a name: header, offset and length in bits. */
function rawText({ base, offset, len }: Payload): string {
  return `@${RAW[base]},${offset * 8},${len * 8}`;
}

function field([text, type, size, order = 'host']: FieldInfo): FieldOperand {
  return { kind: 'field', text, type, size, order };
}
