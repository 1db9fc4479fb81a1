import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { textAnswer } from '../observe/http/index.ts';
import { askProxyText } from './client.ts';
import { SocketKeeper } from './socket-keeper.ts';

const NOBODY = 65534;

describe('the socket of the inspection API', () => {
  let folder: string;
  let path: string;
  let clock: ManualClock;
  let reports: string[];
  const open: { close(): void }[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'inspect-'));
    path = join(folder, 'run', 'proxy.sock');
    clock = new ManualClock();
    reports = [];
  });
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function keeper(text: string): SocketKeeper {
    const created = new SocketKeeper({
      path,
      clock,
      handle: () => textAnswer(200, text),
      opened: () => reports.push(`${text} opened`),
      inUse: () => reports.push(`${text} in use`),
      failed: error => reports.push(`${text} failed: ${error.message}`),
    });
    open.push(created);
    return created;
  }

  const ask = () => askProxyText(path, '/');

  test('INSPECT-1 the folder and the socket are for root only', async () => {
    await keeper('first').start();
    assert.equal(await ask(), 'first');
    assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    // The folders are open to all, so that only the socket can refuse.
    for (const open of [folder, dirname(path)]) chmodSync(open, 0o777);
    const script = `require('net').connect(process.argv[1]).on('error', e => console.log(e.code)).on('connect', () => process.exit(1))`;
    const { stdout } = spawnSync(process.execPath, ['-e', script, path], { uid: NOBODY, encoding: 'utf8', cwd: '/' });
    assert.equal(stdout.trim(), 'EACCES');
  });

  test('INSPECT-2 the socket of a process that was killed is replaced', async () => {
    mkdirSync(dirname(path));
    const script = `require('net').createServer().listen(process.argv[1], () => console.log('ready'))`;
    const child = spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    await keeper('waits').start();
    assert.deepEqual(reports, ['waits in use']);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.ok(existsSync(path), 'a process that is killed leaves its socket behind');
    await keeper('second').start();
    assert.equal(await ask(), 'second');
    assert.deepEqual(readdirSync(dirname(path)), ['proxy.sock']);
  });

  test('INSPECT-2 while another process listens there, the proxy reports it once and retries', async () => {
    const first = keeper('first');
    await first.start();
    await keeper('second').start();
    await clock.advance(1000);
    await waitFor('the second attempt has failed', () => clock.pending === 2);
    assert.deepEqual(reports, ['first opened', 'second in use']);
    assert.equal(await ask(), 'first');
    first.close();
    assert.ok(!existsSync(path));
    await clock.advance(60_000);
    await waitFor('the second one listens', () => reports.includes('second opened'));
    assert.equal(await ask(), 'second');
  });

  test('INSPECT-2 a folder that cannot be made is reported once, and the proxy retries', async () => {
    writeFileSync(join(folder, 'run'), 'no folder');
    await keeper('first').start();
    await clock.advance(1000);
    await waitFor('the second attempt has failed', () => clock.pending === 1);
    assert.equal(reports.length, 1);
    assert.match(reports[0] ?? '', /^first failed: (?:EEXIST|ENOTDIR)/);
    unlinkSync(join(folder, 'run'));
    await clock.advance(60_000);
    await waitFor('it listens', () => reports.includes('first opened'));
  });

  test('INSPECT-2 a file that is no socket stays', async () => {
    mkdirSync(dirname(path));
    writeFileSync(path, 'precious');
    await keeper('first').start();
    assert.deepEqual(reports, ['first failed: there is a file with this name that is no socket']);
    assert.equal(statSync(path).size, 8);
  });

  test('INSPECT-2 a path that is too long for the kernel is reported', async () => {
    path = join(folder, 'x'.repeat(120));
    await keeper('first').start();
    assert.deepEqual(reports, ['first failed: the path is too long: the kernel allows 107 bytes']);
  });

  test('INSPECT-2 a socket that another program deleted is made again', async () => {
    await keeper('first').start();
    unlinkSync(path);
    await clock.advance(30_000);
    await waitFor('the socket is there again', () => existsSync(path));
    assert.equal(await ask(), 'first');
  });

  test('INSPECT-2 at the end the file is deleted, but not the socket of another process', async () => {
    const first = keeper('first');
    await first.start();
    unlinkSync(path);
    const other = createServer();
    other.listen(path);
    await once(other, 'listening');
    first.close();
    assert.ok(existsSync(path));
    other.close();
    const second = keeper('second');
    await second.start();
    second.close();
    assert.deepEqual(readdirSync(dirname(path)), []);
  });
});
