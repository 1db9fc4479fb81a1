import { at, item, label, load, note, type Part, r1, r2, setWide, when } from '../../../../kernel/bpf/index.ts';
import { SockAddr } from '../layout.ts';
import { ctx, MAPPED, type SocketFamily, V6 } from './socket-family.ts';

/** The third word of `::ffff:0:0/96`, in network byte order. */
const MAPPED_WORD = 0xffff0000n;

/** For IPv6 sockets: one body for IPv4 addresses in IPv6 form, one for all other addresses. */
export function eitherFamily(body: (family: SocketFamily) => Part): Part {
  const word = (index: number) => load(r2, at(ctx, item(SockAddr.ip6, index)));
  return [
    note('is it an IPv4 address, ::ffff:0:0/96?'),
    [word(0), when(r2, '!=', 0, 'v6')],
    [word(1), when(r2, '!=', 0, 'v6')],
    [word(2), setWide(r1, MAPPED_WORD), when(r2, '!=', r1, 'v6')],
    body(MAPPED),
    label('v6'),
    body(V6),
  ];
}
