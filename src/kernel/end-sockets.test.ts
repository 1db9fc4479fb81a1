import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../net/index.ts';
import { decodeCookie, encodeEnds, type TcpEnds } from './end-sockets.ts';

const ZEROS = (bytes: number) => '00'.repeat(bytes);
const hex = (text: string) => text.replaceAll(' ', '');

function ends(family: TcpEnds['family'], local: string, remote: string): TcpEnds {
  return { family, local: { ip: local as Ip, port: 40000 }, remote: { ip: remote as Ip, port: 80 } };
}

test('KERNEL-1 a request for one TCP socket has the bytes of struct inet_diag_req_v2', () => {
  const v4 = `02060000 ffffffff 9c400050 0a f4 01 14 ${ZEROS(12)} 0a600001 ${ZEROS(12)} 00000000`;
  assert.equal(
    encodeEnds(ends('IPv4', '10.244.1.20', '10.96.0.1')).toString('hex'),
    hex(`${v4} ffffffff ffffffff`),
    'without a cookie',
  );
  assert.equal(
    encodeEnds(ends('IPv4', '10.244.1.20', '10.96.0.1'), [0x1234, 5]).toString('hex'),
    hex(`${v4} 34120000 05000000`),
  );
  assert.equal(
    encodeEnds(ends('IPv6', 'fd00::1', 'fd00::2')).toString('hex'),
    hex(`0a060000 ffffffff 9c400050 fd00${ZEROS(13)}01 fd00${ZEROS(13)}02 00000000 ffffffff ffffffff`),
  );
});

test('KERNEL-2 the answer has the cookie of a socket that does not listen', () => {
  const answer = (state: string) =>
    Buffer.from(hex(`02${state}0000 9c400050 ${ZEROS(32)} 00000000 34120000 05000000 ${ZEROS(20)}`), 'hex');
  assert.deepEqual(decodeCookie(answer('01')), [0x1234, 5]);
  assert.equal(decodeCookie(answer('0a')), undefined, 'a socket that listens');
  for (let length = 0; length < 72; length++) assert.equal(decodeCookie(answer('01').subarray(0, length)), undefined);
});
