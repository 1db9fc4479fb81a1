import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import type { Ip } from '../src/net/index.ts';
import { HttpClient } from './control-plane/http-client.ts';
import { Program } from './control-plane/program.ts';
import type { HeldProcess } from './support/held-process.ts';
import { SYNCED } from './support/kube-proxy.ts';
import { createNodeNamespace } from './support/namespaces.ts';
import { holdSockets } from './support/socket-holder.ts';

const NAME = 'pointsman-kube-proxy';
const WAITS = 'waiting until it ends';
/** A pod: its own file systems and processes, but the network of the node. */
const POD = ['unshare', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child'];

describe('one proxy in a network namespace', () => {
  let namespace: NetworkNamespace;
  let programs: Program[];
  let holders: HeldProcess[];

  beforeEach(() => {
    namespace = createNodeNamespace();
    programs = [];
    holders = [];
  });

  afterEach(async () => {
    await Promise.all(programs.map(program => program.stop('SIGKILL')));
    await Promise.all(holders.map(holder => holder.close()));
    namespace.close();
  });

  function start(number: number, ...before: string[]): Program {
    const flags = [
      ...['--manifests', 'examples', '--hostname-override', 'node-a', '--proxy-mode', 'nftables', '--inspect-socket='],
      ...['--healthz-bind-address', `127.0.0.1:${20_000 + number}`],
      ...['--metrics-bind-address', `127.0.0.1:${21_000 + number}`],
    ];
    const program = new Program(`proxy ${number}`, [...before, 'bin/kube-proxy', ...flags], { namespace });
    programs.push(program);
    return program;
  }

  /** Another user holds the lock's own name and many that begin with it. */
  async function holdNames(): Promise<void> {
    const names = Array.from({ length: 200 }, (_, i) => `${NAME}/${i}`);
    holders.push(await holdSockets(namespace, [NAME, ...names]));
  }

  async function ready(number: number): Promise<string> {
    const client = new HttpClient({ namespace, ip: '127.0.0.1' as Ip, port: 20_000 + number });
    try {
      return (await client.request({ method: 'GET', path: '/readyz' })).text;
    } finally {
      client.close();
    }
  }

  test('START-16 a user without privileges that holds the name of the lock does not keep the proxy from starting', async () => {
    await holdNames();
    await start(1).until(SYNCED);
  });

  test('START-16 START-17 a second proxy waits, names the first one in the log and in /readyz, and takes over', async () => {
    const first = start(1);
    await first.until(SYNCED);
    const second = start(2);
    await second.until(WAITS);
    assert.match(second.lines.join('\n'), new RegExp(`${WAITS}.* pid=${first.pid} command="kube-proxy"`));
    const lock = `instance lock failed: process ${first.pid} (kube-proxy) is the proxy of this network namespace; waiting`;
    assert.ok((await ready(2)).includes(lock), await ready(2));
    await first.stop();
    await second.until(SYNCED);
    assert.equal(await ready(2), 'ok');
  });

  for (const isNameHeld of [false, true]) {
    const words = isNameHeld ? ', also while another user holds the name of the lock' : '';
    test(`START-16 proxies of two pods with the network of the node exclude each other${words}`, async () => {
      if (isNameHeld) await holdNames();
      const first = start(1, ...POD);
      await first.until(SYNCED);
      const second = start(2, ...POD);
      await second.until(WAITS);
      assert.match(await ready(2), /instance lock failed: a process that \/proc does not show is the proxy/);
      await first.stop('SIGKILL');
      await second.until(SYNCED);
    });
  }
});
