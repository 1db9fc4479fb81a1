import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ListedBlock, ListedLine } from '../../../../inspect/index.ts';
import { serviceChoices } from './service-choices.ts';
import { blockText, countText, firstPages, groupsOf, lineText, shownBlocks } from './shown-blocks.ts';

const to = (block: string, service?: string): ListedLine => ({
  parts: ['goto ', { text: block, block }],
  ...(service !== undefined && { service }),
});
const block = (
  id: string,
  group: string,
  lines: readonly ListedLine[],
  more: Partial<ListedBlock> = {},
): ListedBlock => ({
  id,
  group,
  kind: 'chain',
  name: id,
  lines,
  total: lines.length,
  ...more,
});

const BLOCKS: readonly ListedBlock[] = [
  block('nat-prerouting', 'prerouting', [to('services')]),
  block('services', 'prerouting', [to('numbers'), to('other')]),
  block('numbers', 'prerouting', [to('pick', 'shop/cart')], { kind: 'map', total: 9 }),
  block('pick', 'prerouting', [to('endpoints')]),
  block('endpoints', 'prerouting', [], { kind: 'map', total: 4 }),
  block('other', 'prerouting', [to('end')]),
  block('end', 'prerouting', []),
  block('filter', 'input', [to('end')]),
];
const ALL = { text: '', isWayOnly: false };
const ids = (filter: Partial<typeof ALL>) => shownBlocks(BLOCKS, { ...ALL, ...filter }).map(({ id }) => id);

describe('the blocks that the rules show', () => {
  test('LISTING-8 lines are numbered through the whole listing, and a filter does not change the numbers', () => {
    const numbers = (text: string) =>
      shownBlocks(BLOCKS, { ...ALL, text }).flatMap(({ lines }) => lines.map(({ number }) => number));
    assert.deepEqual(numbers(''), [1, 2, 3, 4, 5, 6, 7]);
    assert.deepEqual(numbers('goto end'), [5, 6, 7]);
  });

  test('LISTING-8 a filter keeps blocks with the name, and lines with the text, whatever the case', () => {
    assert.deepEqual(ids({ text: ' NUMBERS ' }), ['services', 'numbers']);
    const [services, numbers] = shownBlocks(BLOCKS, { ...ALL, text: 'numbers' });
    assert.deepEqual([services?.lines.map(lineText), services?.hidden], [['goto numbers'], 1]);
    assert.deepEqual([numbers?.lines.length, numbers?.hidden], [1, 0], 'all lines of a block with the name');
    assert.deepEqual(ids({ text: 'no such text' }), []);
  });

  test('LISTING-8 the way of the Service is what leads to its lines, and what they lead to', () => {
    assert.deepEqual(ids({ isWayOnly: true }), ['nat-prerouting', 'services', 'numbers', 'pick', 'endpoints']);
    const own = shownBlocks(BLOCKS, ALL).filter(({ isOfService }) => isOfService);
    assert.deepEqual(
      own.map(({ id }) => id),
      ['numbers'],
    );
  });

  test('LISTING-8 the outline has one heading for each group', () => {
    const groups = groupsOf(shownBlocks(BLOCKS, ALL)).map(({ name, blocks }) => `${name} ${blocks.length}`);
    assert.deepEqual(groups, ['prerouting 7', 'input 1']);
  });

  test('LISTING-8 a long listing is drawn in pages; the block of the address is always drawn', () => {
    const blocks = shownBlocks(
      Array.from({ length: 1000 }, (_, i) => block(`${i}`, 'prerouting', [])),
      ALL,
    );
    const lengths = [firstPages(blocks, 1, undefined), firstPages(blocks, 2, '7'), firstPages(blocks, 1, '450')];
    assert.deepEqual(
      lengths.map(list => list.length),
      [150, 300, 600],
    );
    assert.equal(firstPages(blocks, 9, undefined).length, 1000);
  });

  test('LISTING-8 a block is copied with its title and all shown lines', () => {
    const [first] = shownBlocks([block('a', 'g', [to('b'), to('c')], { head: 'type nat' })], ALL);
    assert.equal(first && blockText(first), '# chain a: type nat\ngoto b\ngoto c\n');
  });

  test('LISTING-8 a block says how many of its lines are listed', () => {
    const texts = shownBlocks(BLOCKS, ALL).map(countText);
    assert.deepEqual(texts.slice(0, 5), [
      '1 rule',
      '2 rules',
      '1 of 9 elements listed',
      '1 rule',
      '0 of 4 elements listed',
    ]);
    const [services] = shownBlocks(BLOCKS, { ...ALL, text: 'goto numbers' });
    assert.equal(services && countText(services), '1 of 2 rules have the text');
    const kind = 'addresses';
    const addresses = shownBlocks([block('a', 'g', [], { kind, total: 2 })], ALL).map(countText);
    assert.deepEqual(addresses, ['0 of 2 addresses listed']);
  });

  test('LISTING-8 the chooser offers few Services, first those whose names begin with the text', () => {
    const keys = ['a/cart', 'b/discart', 'cart/x', 'd/y'].map(key => ({ key }));
    assert.deepEqual(serviceChoices(keys, 'Cart'), ['a/cart', 'cart/x', 'b/discart']);
    const many = Array.from({ length: 44_125 }, (_, i) => ({ key: `ns/service-${i}` }));
    assert.equal(serviceChoices(many, '').length, 30);
    assert.deepEqual(serviceChoices(many, 'service-44124'), ['ns/service-44124']);
  });
});
