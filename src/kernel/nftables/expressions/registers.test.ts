import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printRegister, registerAt, wordOf, wordsFor } from './registers.ts';

test('KERNEL-1 registers of 16 and of 4 bytes overlap', () => {
  assert.equal(wordOf(1), wordOf(8));
  assert.equal(wordOf(2), wordOf(12));
  assert.equal(wordOf(4), wordOf(20));
  assert.deepEqual([9, 10, 11, 13, 23].map(wordOf), [1, 2, 3, 5, 15]);
});

test('KERNEL-1 the verdict register and invalid numbers have no word', () => {
  assert.deepEqual([0, 5, 7, 24, -1].map(wordOf), [undefined, undefined, undefined, undefined, undefined]);
});

test('KERNEL-1 consecutive words have the register numbers that the kernel lists', () => {
  const numbers = Array.from({ length: 16 }, (_, word) => registerAt(word));
  assert.deepEqual(numbers, [1, 9, 10, 11, 2, 13, 14, 15, 3, 17, 18, 19, 4, 21, 22, 23]);
  assert.deepEqual(numbers.map(wordOf), [...numbers.keys()]);
  assert.throws(() => registerAt(16), RangeError);
});

test('KERNEL-1 a value occupies whole words', () => {
  assert.deepEqual([1, 2, 4, 6, 16].map(wordsFor), [1, 1, 1, 2, 4]);
});

test('KERNEL-1 prints a register by its number', () => {
  assert.equal(printRegister(9), 'reg 9');
});
