import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { preparationErrorOf, type RefusalSearch, writeAccepted } from './refusal-search.ts';

/** A kernel that refuses some items, and commits all of a write or nothing. */
class Kernel implements RefusalSearch<number, Error> {
  readonly written = new Set<number>();
  readonly refused: number[] = [];
  attempts = 0;
  readonly #bad: ReadonlySet<number>;

  constructor(bad: Iterable<number>) {
    this.#bad = new Set(bad);
  }

  async attempt(items: readonly number[]): Promise<Error | undefined> {
    this.attempts++;
    if (items.some(item => this.#bad.has(item))) return new Error('refused');
    for (const item of items) this.written.add(item);
    return undefined;
  }

  refuse(item: number): readonly number[] {
    this.refused.push(item);
    return [];
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('MODE-4 search for refused items', () => {
  test('the search writes everything at once if the kernel refuses nothing', async () => {
    const kernel = new Kernel([]);
    await writeAccepted(upTo(1000), kernel);
    assert.deepEqual([kernel.attempts, kernel.written.size], [1, 1000]);
    await writeAccepted([], kernel);
    assert.equal(kernel.attempts, 1, 'an empty list is not written');
  });

  test('the search finds one bad item among many with few attempts', async () => {
    const kernel = new Kernel([617]);
    await writeAccepted(upTo(1000), kernel);
    assert.deepEqual(kernel.refused, [617]);
    assert.equal(kernel.written.size, 999);
    assert.ok(kernel.attempts <= 21, `${kernel.attempts} attempts`);
  });

  test('the search refuses exactly the bad items and writes all others', () =>
    fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(99)), fc.nat(100), async (bad, size) => {
        const kernel = new Kernel(bad);
        await writeAccepted(upTo(size), kernel);
        const expected = bad.filter(item => item < size).sort((a, b) => a - b);
        assert.deepEqual(
          kernel.refused.toSorted((a, b) => a - b),
          expected,
        );
        assert.equal(kernel.written.size, size - expected.length);
      }),
    ));

  test('the search does not halve if the error names the bad items', async () => {
    const kernel = new Kernel([3, 70]);
    const named = (_error: Error, items: readonly number[]) => items.filter(item => item === 3 || item === 70);
    await writeAccepted(upTo(100), {
      attempt: items => kernel.attempt(items),
      refuse: item => kernel.refuse(item),
      named,
    });
    assert.deepEqual(kernel.refused, [3, 70]);
    assert.equal(kernel.attempts, 2);
  });

  test('the search writes a replacement for a refused item, and refuses that too if it is bad', async () => {
    const kernel = new Kernel([1, -1]);
    const refuse = (item: number) => {
      kernel.refuse(item);
      return item > 0 ? [-item] : [];
    };
    await writeAccepted([1, 2], { attempt: items => kernel.attempt(items), refuse });
    assert.deepEqual(kernel.refused, [1, -1]);
    assert.deepEqual([...kernel.written], [2]);
  });

  test('the search throws every error that is not a refusal', async () => {
    const attempt = async () => assert.fail('no memory');
    await assert.rejects(writeAccepted([1, 2], { attempt, refuse: () => [] }), /no memory/);
  });
});

describe('MODE-10 items that cannot be prepared', () => {
  const prepare = (item: number) => {
    if (item % 2 === 1) throw new Error(`${item} is odd`);
  };

  test('each item that fails alone is found, with its own error', () => {
    const { failed } = preparationErrorOf(new Error('all'), [1, 2, 3], prepare);
    assert.deepEqual(
      failed,
      new Map([
        [1, new Error('1 is odd')],
        [3, new Error('3 is odd')],
      ]),
    );
  });

  test('if no item fails alone, the error of all is thrown', () => {
    assert.throws(() => preparationErrorOf(new Error('all'), [2, 4], prepare), /^Error: all$/);
  });
});
