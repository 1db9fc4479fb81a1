import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { OpenResources, Shutdown } from './shutdown.ts';

function host(): EventEmitter & NodeJS.Process {
  return new EventEmitter() as EventEmitter & NodeJS.Process;
}

test('START-9 the first signal ends the run, and the system handles a second one', async () => {
  const process = host();
  const shutdown = new Shutdown(rememberingLog().log, process);
  assert.equal(shutdown.isRequested, false);
  process.emit('SIGTERM', 'SIGTERM');
  assert.equal(await shutdown.requested, 'SIGTERM');
  assert.equal(process.listenerCount('SIGTERM'), 0);
});

test('START-14 an unexpected error is logged with its stack and ends the run', async () => {
  const { log, lines } = rememberingLog();
  const process = host();
  const shutdown = new Shutdown(log, process);
  const error = new Error('oops');
  process.emit('uncaughtException', error, 'unhandledRejection');
  await assert.rejects(shutdown.requested, { message: 'unexpected error: oops', cause: error });
  const fields = JSON.stringify({ err: 'oops', origin: 'unhandledRejection', stack: error.stack });
  assert.deepEqual(lines, [`E Unexpected error; kube-proxy ends and must be restarted ${fields}`]);
});

test('START-14 an unexpected error during the shutdown is logged and does not stop the shutdown', async () => {
  const { log, lines } = rememberingLog();
  const process = host();
  const shutdown = new Shutdown(log, process);
  process.emit('SIGINT', 'SIGINT');
  process.emit('uncaughtException', new Error('late'), 'uncaughtException');
  assert.equal(await shutdown.requested, 'SIGINT');
  assert.equal(lines.length, 1);
  shutdown.close();
  assert.deepEqual(process.eventNames(), []);
});

test('START-9 resources close in reverse order, even if one of them fails', async () => {
  const { log, lines } = rememberingLog();
  const resources = new OpenResources(log);
  const closed: string[] = [];
  resources.add('first', () => void closed.push('first'));
  resources.add('broken', () => {
    throw new Error('no');
  });
  resources.add('last', async () => void closed.push('last'));
  await resources.close();
  resources.add('late', () => void closed.push('late'));
  assert.deepEqual(closed, ['last', 'first', 'late']);
  assert.deepEqual(lines, ['E A resource was not closed cleanly {"err":"no","resource":"broken"}']);
});
