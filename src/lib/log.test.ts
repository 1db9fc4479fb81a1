import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Logger } from './log.ts';

test('LOG-1 a line as klog writes it: severity, date, time, process, source, message, values', () => {
  const lines: string[] = [];
  const log = new Logger(
    line => lines.push(line),
    () => new Date(2026, 10, 5, 9, 8, 7, 6),
  );
  log.info('proxy', 'Synced "rules"', { ports: 3, family: 'IPv4', gone: undefined, ok: true });
  log.error('proxy', 'Failed', { err: 'no\nway' });
  const pid = String(process.pid).padStart(7);
  assert.deepEqual(lines, [
    `I1105 09:08:07.006000 ${pid} proxy] "Synced \\"rules\\"" ports=3 family="IPv4" ok=true\n`,
    `E1105 09:08:07.006000 ${pid} proxy] "Failed" err="no\\nway"\n`,
  ]);
});
