import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { type Command, printCommand } from './command.ts';
import { L4 } from './port.ts';
import { IpsetSocket } from './socket.ts';

test('KERNEL-11 Linux 6.1 restores sets, saves them as ipset save does, and errors name the entry', async () => {
  const namespace = NetworkNamespace.create();
  const ipset = IpsetSocket.open({ namespace });
  const web = (index: number) => ({
    kind: 'hash:ip,port' as const,
    ip: `10.0.0.${index}` as Ip,
    protocol: L4.SCTP,
    port: 80,
  });
  const commands: Command[] = [
    { kind: 'create', set: { name: 'A', type: 'hash:ip,port', family: 'IPv4', hashsize: 1024, maxelem: 65536 } },
    { kind: 'create', set: { name: 'N', type: 'hash:ip,port,net', family: 'IPv6' } },
    { kind: 'create', set: { name: 'P', type: 'bitmap:port', range: { from: 0, to: 65535 } } },
    { kind: 'add', name: 'P', entries: [{ kind: 'bitmap:port', port: 30080 }] },
    { kind: 'add', name: 'A', entries: [web(1), web(2), web(1), web(3)] },
  ];
  try {
    const refused = await ipset.restore(commands);
    assert.deepEqual(
      refused.map(({ error }) => [error.operation, error.errno]),
      [['add A 10.0.0.1,sctp:80', 'IPSET_ERR_EXIST']],
    );
    const { stdout } = namespace.run(() => spawnSync('ipset', ['save'], { encoding: 'utf8' }));
    assert.deepEqual([...ipset.save()].map(printCommand).sort(), stdout.trim().split('\n').sort());
    assert.equal([...ipset.entries('A')].length, 3);
  } finally {
    ipset.close();
    namespace.close();
  }
});
