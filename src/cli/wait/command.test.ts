import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { runMain } from '../../../test/support/run-main.ts';
import type { ProgrammedAnswer } from '../../inspect/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'wait-'));
const socket = join(folder, 'proxy.sock');

const PROGRAMMED: ProgrammedAnswer = {
  schema: 'pointsman.programmed/v1',
  node: 'node-a',
  pending: false,
  programmed: { services: '10', endpointSlices: '10' },
  received: { services: '10', endpointSlices: '10' },
  setAside: [],
  setAsideCount: 0,
  service: { name: 'default/web', known: true },
};

describe('kube-proxy wait', () => {
  let server: Server;
  let answer: object = PROGRAMMED;
  const asked: string[] = [];

  before(async () => {
    server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(answer));
    }).listen(socket);
    await once(server, 'listening');
  });

  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  function wait(...args: string[]) {
    return runMain(['wait', ...args, '--inspect-socket', socket]);
  }

  test('PROGRAMMED-13 a Service that is programmed is the exit status 0', async () => {
    answer = PROGRAMMED;
    const { status, stdout, stderr } = await wait('web');
    assert.deepEqual([status, stdout, stderr], [0, '✓ default/web is programmed on 1 node\n', '']);
    assert.equal(asked.at(-1), '/v1/programmed?service=default%2Fweb');
  });

  test('PROGRAMMED-13 a Service that is not programmed in time is the exit status 1, with the reason', async () => {
    answer = { ...PROGRAMMED, received: { services: '11', endpointSlices: '10' } };
    const { status, stdout } = await wait('web', '--timeout', '150ms', '-o', 'json');
    assert.equal(status, 1);
    const report = JSON.parse(stdout);
    assert.deepEqual([report.schema, report.outcome], ['pointsman.wait/v1', 'timeout']);
    assert.deepEqual([report.nodes.all, report.nodes.programmed], [1, 0]);
    assert.deepEqual(report.nodes.missing[0].cause, 'behind');
  });

  test('PROGRAMMED-13 a Service that is set aside is the exit status 1 at once', async () => {
    const port = { service: 'default/web', port: '', protocol: 'TCP', family: 'IPv4', message: 'refused\u001b[2J' };
    answer = { ...PROGRAMMED, setAside: [port] };
    const { status, stdout } = await wait('web', '-o', 'yaml');
    assert.deepEqual([status, parse(stdout).outcome], [1, 'set-aside']);
    const { stdout: text } = await wait('web');
    assert.equal(text, '✗ default/web is not programmed on 1 of 1 nodes\n  node-a: port TCP: refused\\x1b[2J\n');
  });

  test('PROGRAMMED-13 a wrong command line, and a proxy that does not answer, are the exit status 2', async () => {
    for (const [args, reason] of [
      [[], /needs the name of one SERVICE/],
      [['web*'], /needs the name of one SERVICE/],
      [['web', '--for', 'ready'], /must be programmed/],
      [['web', '--timeout', '0s'], /must be longer than 0s/],
      [['web', '--node-selector', 'a=b'], /--node-selector also needs --all-nodes/],
      [['web', '--context', 'x'], /--context also needs --kubeconfig/],
      [['web', '--all-nodes'], /--inspect-socket is for a wait on one node/],
    ] as const) {
      const { status, stderr } = await wait(...args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, reason);
    }
    const { status, stderr } = await runMain(['wait', 'web', '--inspect-socket', join(folder, 'none.sock')]);
    assert.equal(status, 2);
    assert.match(stderr, /none\.sock/);
  });

  test('PROGRAMMED-13 a proxy of an older version says that it does not know the question', async () => {
    answer = { schema: 'pointsman.error/v1', error: 'there is no path' };
    const { status, stderr } = await wait('web');
    assert.equal(status, 2);
    assert.match(stderr, /does not say what it has programmed/);
  });
});
