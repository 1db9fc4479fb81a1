import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { Ending } from './ending.ts';

function host(): EventEmitter & NodeJS.Process {
  return new EventEmitter() as EventEmitter & NodeJS.Process;
}

test('START-9 the first signal ends the run; another one is left to the system', async () => {
  const process = host();
  const ending = new Ending(rememberingLog().log, process);
  assert.equal(ending.isReached, false);
  process.emit('SIGTERM', 'SIGTERM');
  assert.equal(await ending.reached, 'SIGTERM');
  assert.equal(process.listenerCount('SIGTERM'), 0);
});

test('START-14 an error that nobody expected is told with its stack, and ends the run', async () => {
  const { log, lines } = rememberingLog();
  const process = host();
  const ending = new Ending(log, process);
  const error = new Error('oops');
  process.emit('uncaughtException', error, 'unhandledRejection');
  await assert.rejects(ending.reached, { message: 'unexpected error: oops', cause: error });
  const fields = JSON.stringify({ err: 'oops', origin: 'unhandledRejection', stack: error.stack });
  assert.deepEqual(lines, [`E Unexpected error; ending, to be started again ${fields}`]);
});

test('START-14 what goes wrong while it ends is told, and stops nothing', async () => {
  const { log, lines } = rememberingLog();
  const process = host();
  const ending = new Ending(log, process);
  process.emit('SIGINT', 'SIGINT');
  process.emit('uncaughtException', new Error('late'), 'uncaughtException');
  assert.equal(await ending.reached, 'SIGINT');
  assert.equal(lines.length, 1);
  ending.close();
  assert.deepEqual(process.eventNames(), []);
});
