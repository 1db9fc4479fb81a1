import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { observation, resultsOf } from '../../../test/support/demo-results.ts';
import { demoRows } from '../../../test/support/demo-rows.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { PlainLines } from './plain-lines.ts';

const ROWS = demoRows([service('web'), slice('web-1', ['10.244.1.11', '10.244.2.10'])]);

/** Only the tests from a pod have results. */
const rows = (...texts: string[]) =>
  resultsOf(ROWS, (_, place) => (place === 'pod' ? observation(...texts) : undefined)).rows;

describe('demo lines for a pipe', () => {
  test('DEMO-6 each address and place gets one line, without colours', () => {
    const all = resultsOf(ROWS, (_, place) =>
      observation(`10.244.1.11:8080 52 ${place === 'pod' ? 'itself' : 'node'}`, 'silent'),
    ).rows;
    assert.deepEqual(new PlainLines().newLines(all), [
      '✗ default/web  ClusterIP  TCP 10.96.0.1:80  from pod      10.244.1.11:8080 100% silent; but 10.244.1.11:8080 and 10.244.2.10:8080 should answer',
      '✗ default/web  ClusterIP  TCP 10.96.0.1:80  from node     10.244.1.11:8080 100% as node silent; but 10.244.1.11:8080 and 10.244.2.10:8080 should answer',
      '✗ default/web  ClusterIP  TCP 10.96.0.1:80  from outside  10.244.1.11:8080 100% as node silent; but 10.244.1.11:8080 and 10.244.2.10:8080 should answer',
    ]);
  });

  test('DEMO-6 a line is printed when the result is certain, and again only when the result changes', () => {
    const lines = new PlainLines();
    assert.deepEqual(lines.newLines(rows('10.244.1.11:8080 5')), []);
    const shares = ['10.244.1.11:8080 6', '10.244.2.10:8080 4'];
    assert.deepEqual(lines.newLines(rows(...shares)), [
      '✓ default/web  ClusterIP  TCP 10.96.0.1:80  from pod      10.244.1.11:8080 60% · 10.244.2.10:8080 40%',
    ]);
    assert.deepEqual(lines.newLines(rows('10.244.1.11:8080 5', '10.244.2.10:8080 5')), []);
    assert.deepEqual(lines.newLines(rows('10.244.1.11:8080 40')), [
      '✗ default/web  ClusterIP  TCP 10.96.0.1:80  from pod      10.244.1.11:8080 100%; but 10.244.2.10:8080 should answer too',
    ]);
    assert.equal(lines.newLines(rows(...shares)).length, 1);
  });

  test('DEMO-6 an address that is gone is reported once', () => {
    const lines = new PlainLines();
    lines.newLines(rows('refused'));
    assert.deepEqual(lines.newLines([]), ['- default/web IPv4 TCP ClusterIP 10.96.0.1 80 is gone']);
    assert.deepEqual(lines.newLines([]), []);
  });
});
