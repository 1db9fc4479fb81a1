import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, test } from 'node:test';
import { httpCall } from '../../test/support/http-call.ts';
import { listingFacts } from '../../test/support/listing-facts.ts';
import { service, slice } from '../../test/support/objects.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Facts } from '../explain/index.ts';
import { History } from '../history/index.ts';
import type { Ip } from '../net/index.ts';
import { HttpServer } from '../observe/http/index.ts';
import { inspectionHandler, planRoute, problemsRoute, servicesRoute } from './index.ts';

const SERVICES = 6000;
const CLIENTS = 20;

/** Reads paths again and again, over several connections. Prints a line for each complete answer. */
const READER = `
const { get } = require('http');
const [port, clients, ...paths] = process.argv.slice(1);
const read = path => get({ port, host: '127.0.0.1', path, agent: false }, response => {
  response.resume().on('close', () => {
    if (response.complete && response.statusCode === 200) console.log(path);
    setTimeout(read, response.statusCode === 200 ? 0 : 100, path);
  });
}).on('error', () => setTimeout(read, 100, path));
for (let i = 0; i < Number(clients); i++) read(paths[i % paths.length]);
process.stdin.resume().on('end', () => process.exit());
`;

describe('the inspection API under load', () => {
  const open: { close(): void }[] = [];
  const children: ChildProcess[] = [];

  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const one of open.splice(0)) one.close();
  });

  function largeFacts(): Facts {
    const objects = Array.from({ length: SERVICES }, (_, i) => {
      const [high, low] = [i >> 8, i & 255];
      return {
        service: service(`s${i}`, { clusterIP: `10.97.${high}.${low}` }),
        slice: slice(`s${i}-x`, [`10.1.${high}.${low}`, `10.2.${high}.${low}`, `10.3.${high}.${low}`]),
      };
    });
    return listingFacts({ services: objects.map(each => each.service), slices: objects.map(each => each.slice) });
  }

  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };

  /** The CPU time of each turn of the event loop. Time in which other processes run does not count. */
  function measureTurns(): { stop(): readonly number[] } {
    const turns: number[] = [];
    let before = cpuMs();
    let isRunning = true;
    const turn = () => {
      const now = cpuMs();
      turns.push(now - before);
      before = now;
      if (isRunning) setImmediate(turn);
    };
    setImmediate(turn);
    return {
      stop() {
        isRunning = false;
        return turns.sort((a, b) => b - a);
      },
    };
  }

  test(`INSPECT-7 ${CLIENTS} clients that read long lists again and again never hold the event loop for long`, async () => {
    const facts = largeFacts();
    const history = new History();
    const routes = [
      servicesRoute({ facts: () => facts, history, connectionCounts: async () => undefined }),
      planRoute(() => facts),
      problemsRoute(() => facts),
    ];
    const server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle: inspectionHandler({ routes }) });
    open.push(server);
    const { port } = server;
    for (const path of ['/v1/plan', '/v1/services']) {
      const { body } = await httpCall({ port, path });
      assert.equal(body.trimEnd().split('\n').length, SERVICES + 1, path);
    }
    const before = cpuMs();
    await httpCall({ port, path: '/v1/plan' });
    const wholeList = cpuMs() - before;

    const paths = ['/v1/plan', '/v1/services', '/v1/problems'];
    const args = ['-e', READER, String(port), String(CLIENTS), ...paths];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const turns = measureTurns();
    let printed = '';
    child.stdout.on('data', data => (printed += data));
    const hasRead = () => printed.split('\n').some(path => path !== '' && path !== '/v1/problems');
    await waitFor('a client reads a whole list', hasRead);
    const [longest = 0, ...others] = turns.stop();
    child.stdin.end();
    await once(child, 'exit');
    // A garbage collection may fall into any turn, so a few may be longer.
    const typical = others[5] ?? longest;
    assert.ok(
      typical < wholeList / 5,
      `a turn of the event loop took ${typical.toFixed(1)} ms, a whole list ${wholeList.toFixed(1)} ms`,
    );
  });
});
