import { test } from 'node:test';
import fc from 'fast-check';
import { message } from '../../../test/support/netlink.ts';
import { parseCidr, parseIp } from '../../net/index.ts';
import { AddressMessage, decodeAddress, encodeAddress } from './address.ts';
import { decodeLink, LinkMessage } from './link.ts';
import { decodeEvent } from './monitor.ts';
import { encodeNewLink } from './new-link.ts';
import { decodeRoute, encodeRoute, RouteMessage } from './route.ts';

const link = { index: 3, name: 'veth0' };
const ip = parseIp('fd00::1');
const destination = parseCidr('10.0.0.0/8');
const WHOLE = [
  message(LinkMessage.NEW, 0, w => encodeNewLink(w, { kind: 'veth', name: 'a', mtu: 9, peer: { name: 'b' } })),
  ...(ip ? [message(AddressMessage.NEW, 0, w => encodeAddress(w, 'add', link, { ip, prefix: 64 }))] : []),
  ...(destination ? [message(RouteMessage.NEW, 0, w => encodeRoute(w, 'add', { destination, dev: link }))] : []),
].map(bytes => Buffer.from(bytes.subarray(16)));

function decodeAll(body: Buffer): void {
  decodeLink(body);
  decodeAddress(body);
  decodeRoute(body);
  for (const type of [LinkMessage.NEW, LinkMessage.DEL, AddressMessage.NEW, AddressMessage.DEL, RouteMessage.NEW]) {
    decodeEvent({ type, body });
  }
}

test('KERNEL-2 random bytes never make a decoder throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), bytes => decodeAll(Buffer.from(bytes))));
});

test('KERNEL-2 messages that are cut short or changed never make a decoder throw', () => {
  const change = fc.record({ at: fc.nat(200), value: fc.integer({ min: 0, max: 255 }) });
  const property = fc.property(
    fc.constantFrom(...WHOLE),
    fc.array(change, { maxLength: 6 }),
    fc.nat(200),
    (whole, changes, length) => {
      const bytes = Buffer.from(whole.subarray(0, length));
      for (const { at, value } of changes) if (at < bytes.length) bytes[at] = value;
      decodeAll(bytes);
    },
  );
  fc.assert(property, { numRuns: 500 });
});
