import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caseFolders, questionOf, readLines } from './recorded-case.ts';

/** Who calls, in a recorded line, and as whom endpoints see the caller. */
const LINE = /^(?<question>.* from (?<caller>\S+)) => (?<answers>.*?)(?: as (?<seen>\S+))?$/;
/** All recorded answers of nftables mode, and how many of them are others in ebpf mode. */
const COUNTS = { recorded: 834, different: 131 };

test('EBPF-80 ebpf mode differs from nftables mode only for TCP, and only in what it declares', () => {
  const counts = { recorded: 0, different: 0 };
  for (const folder of caseFolders('ebpf')) {
    const recorded = new Map(readLines(folder, 'nftables').map(line => [questionOf(line), line]));
    counts.recorded += recorded.size;
    for (const line of readLines(folder, 'ebpf').filter(Boolean)) {
      const network = recorded.get(questionOf(line));
      assert.ok(network !== undefined && network !== line, `${folder}: ${line}`);
      assert.equal(differenceOf(network, line), 'declared', `${folder}: ${line}`);
      counts.different++;
    }
  }
  assert.deepEqual(counts, COUNTS);
});

/** Endpoints see a pod where they saw the node; and node ports answer the node itself at loopback. */
function differenceOf(network: string, sockets: string): 'declared' | 'other' {
  const [from, to] = [LINE.exec(network)?.groups, LINE.exec(sockets)?.groups];
  if (!from || !to || !/\/tcp /.test(sockets)) return 'other';
  if (/ nodePort-lo /.test(sockets)) return from.answers === 'refused' && to.seen === 'node' ? 'declared' : 'other';
  const own = to.caller?.replace(/^self\((.*)\)$/, '$1');
  const isAsPod = to.caller !== 'node' && to.seen === own && from.answers === to.answers;
  return isAsPod && from.seen?.split(',').includes('node') ? 'declared' : 'other';
}
