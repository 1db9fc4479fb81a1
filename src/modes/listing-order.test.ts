import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lineText } from '../../test/support/listed-lines.ts';
import { builtInBlocks, chainBlock, ruleLine } from './iptables-blocks.ts';
import type { ListedLine } from './listing.ts';
import { arrangeListing, type DraftBlock, linkNames, MAX_SERVICE_LINES } from './listing-order.ts';

/** `to`: the ids that its lines lead to. */
const block = (id: string, to: readonly string[] = [], more: Partial<DraftBlock> = {}): DraftBlock => ({
  id,
  kind: 'chain',
  name: id,
  lines: to.map(name => ({ parts: ['jump ', { text: name, block: name }] })),
  ...more,
});
const ids = (blocks: readonly DraftBlock[]) =>
  arrangeListing({ blocks }).blocks.map(({ id, group }) => `${group} ${id}`);
const many = (count: number, service?: string): readonly ListedLine[] =>
  Array.from({ length: count }, (_, i) => ({ parts: [`line ${i}`], ...(service !== undefined && { service }) }));

describe('the order of a listing', () => {
  test('LISTING-1 from each hook, a block comes before those that it leads to', () => {
    const found = ids([
      block('in', ['services'], { group: 'prerouting' }),
      block('out', ['services', 'last'], { group: 'output' }),
      block('last'),
      block('unused', ['last']),
      block('services', ['map']),
      block('map', ['services']),
    ]);
    assert.deepEqual(found, [
      'prerouting in',
      'prerouting services',
      'prerouting map',
      'output out',
      'output last',
      'not used now unused',
    ]);
  });

  test('LISTING-1 a block of another hook stays with its hook, whatever leads to it', () => {
    const found = ids([block('a', ['b'], { group: 'input' }), block('b', [], { group: 'forward' })]);
    assert.deepEqual(found, ['input a', 'forward b']);
  });
});

describe('the size of a listing', () => {
  test('LISTING-5 a listing has a limited number of lines of the Service, and says so', () => {
    const listing = arrangeListing({
      blocks: [
        block('a', [], { group: 'input', lines: [...many(MAX_SERVICE_LINES - 1, 'x/y'), ...many(3)], total: 9000 }),
        block('b', [], { group: 'input', lines: many(5, 'x/y'), servicePort: 'x/y' }),
        block('c', ['b', 'd'], { group: 'input' }),
        block('d', [], { lines: many(1, 'x/y'), servicePort: 'x/y' }),
      ],
    });
    const sizes = listing.blocks.map(({ id, lines, total }) => [id, lines.length, total]);
    assert.deepEqual(sizes, [
      ['a', MAX_SERVICE_LINES + 2, 9000],
      ['b', 1, 5],
      ['c', 2, 2],
    ]);
    assert.equal(listing.incomplete, `the listing has only the first ${MAX_SERVICE_LINES} lines of the Service`);
    const last = listing.blocks.at(-1)?.lines.map(({ parts }) => parts);
    assert.deepEqual(last, [['jump ', { text: 'b', block: 'b' }], ['jump d']], 'a link to a block that is cut is text');
  });

  test('LISTING-5 a block has a limited number of lines that belong to no Service', () => {
    const [found] = arrangeListing({ blocks: [block('a', [], { lines: many(9000) })] }).blocks;
    assert.deepEqual([found?.lines.length, found?.total], [1000, 9000]);
  });

  test('LISTING-3 the total is never less than the number of lines', () => {
    const [found] = arrangeListing({ blocks: [block('a', [], { lines: many(3), total: 1 })] }).blocks;
    assert.equal(found?.total, 3);
  });
});

describe('the links of a line', () => {
  test('LISTING-4 names are found in their order, and only as whole words', () => {
    const link = (name: string) => ({ before: '@', name, block: `map ${name}` });
    const parts = linkNames('a @ips-2 map @ips vmap @ips', [link('ips'), link('ips'), link('other')]);
    assert.deepEqual(parts, [
      'a @ips-2 map @',
      { text: 'ips', block: 'map ips' },
      ' vmap @',
      { text: 'ips', block: 'map ips' },
    ]);
  });

  test('LISTING-4 only the words after certain options of iptables are links, and not what stands in quotes', () => {
    const line = '-A A -m comment --comment "x -j B" -m set --match-set S dst -j B';
    const chain = (name: string) => chainBlock('IPv4', { table: 'nat', chain: name, lines: [] });
    const own = chainBlock('IPv4', { table: 'nat', chain: 'A', lines: [ruleLine('nat', line)] });
    const [first] = arrangeListing({ blocks: [own, chain('B'), block('set S')] }).blocks;
    const [listed] = first?.lines ?? [];
    assert.equal(listed && lineText(listed), line);
    assert.deepEqual(listed?.parts, [
      '-A A -m comment --comment "x -j B" -m set --match-set ',
      { text: 'S', block: 'set S' },
      ' dst -j ',
      { text: 'B', block: 'chain nat B' },
    ]);
  });

  test('LISTING-1 the last jump that a mode inserts stands first in a built-in chain, an appended one last', () => {
    const jump = { table: 'nat', from: 'OUTPUT' };
    const [found] = builtInBlocks('IPv6', [
      { ...jump, rule: '-j A' },
      { ...jump, rule: '-j C', isAppended: true },
      { ...jump, rule: '-j B' },
      { table: 'nat', from: 'PREROUTING', rule: '-j A' },
    ]).slice(1);
    assert.deepEqual(found?.lines.map(lineText), ['-A OUTPUT -j B', '-A OUTPUT -j A', '-A OUTPUT -j C']);
    assert.equal(found?.command, 'ip6tables -t nat -S OUTPUT');
  });
});
