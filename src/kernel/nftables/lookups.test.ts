import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordingTransport } from '../../../test/support/netlink.ts';
import { NetlinkSocket } from '../netlink/index.ts';
import { dataBytes } from './data.ts';
import { NftablesLookups } from './lookups.ts';
import { NftMessage } from './message.ts';

/** The message's header without sequence number and port, as hex, and its body. */
function parts(message: Buffer): { readonly length: number; readonly type: number; readonly body: string } {
  return {
    length: message.readUInt32LE(0),
    type: message.readUInt16LE(4),
    body: message.subarray(16).toString('hex'),
  };
}

test('KERNEL-1 READ-5 a request for one element has the bytes that nft 1.0.6 sends for `get element`', () => {
  const transport = new RecordingTransport();
  const lookups = new NftablesLookups(new NetlinkSocket(transport));
  const key = dataBytes(['ipv4_addr', 'inet_proto', 'inet_service'], ['10.96.0.10', 'tcp', 80]);
  assert.equal(lookups.element('ip', 'kp', 'service-ips', key), undefined);
  const [sent = assert.fail()] = transport.sent;
  const body =
    '02000000 1000 0200 736572766963652d69707300 0700 0100 6b700000' +
    '1c00 0380 1800 0180 1400 0180 1000 0100 0a60000a 06000000 00500000';
  assert.deepEqual(parts(sent), {
    length: 72,
    type: (10 << 8) | NftMessage.GETSETELEM,
    body: body.replaceAll(' ', ''),
  });
});

test('KERNEL-1 requests for one table, chain or set name only that object', () => {
  const transport = new RecordingTransport();
  const lookups = new NftablesLookups(new NetlinkSocket(transport));
  lookups.table('ip', 'kp');
  lookups.chain('ip', 'kp', 'c');
  lookups.set('ip', 'kp', 's');
  assert.deepEqual(
    transport.sent.map(message => parts(message).body),
    [
      '02000000 0700 0100 6b700000',
      '02000000 0700 0100 6b700000 0600 0300 63000000',
      '02000000 0700 0100 6b700000 0600 0200 73000000',
    ].map(hex => hex.replaceAll(' ', '')),
  );
});
