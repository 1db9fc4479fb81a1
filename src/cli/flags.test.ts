import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { boolFlag, describeFlags, type FlagSpec, listFlag, parseFlags, stringFlag } from './flags.ts';

const SPECS: readonly FlagSpec[] = [
  { name: 'dry-run', type: 'bool', usage: 'do nothing' },
  { name: 'output', shorthand: 'o', type: 'string', value: 'FORM', usage: 'form of the output' },
  { name: 'cidrs', type: 'stringSlice', value: 'LIST', usage: 'ranges' },
];

describe('flags', () => {
  const forms: [string[], string | undefined][] = [
    [['--output=json'], 'json'],
    [['--output', 'json'], 'json'],
    [['-o', 'json'], 'json'],
    [['-o=json'], 'json'],
    [['-ojson'], 'json'],
    [['--output='], ''],
    [['--output=a', '--output=b'], 'b'],
    [[], undefined],
  ];
  for (const [args, want] of forms) {
    test(`CLI-1 ${args.join(' ') || 'no flag'} gives ${JSON.stringify(want)}`, () =>
      assert.equal(stringFlag(parseFlags(SPECS, args).values, 'output'), want));
  }

  test('CLI-1 a bool takes its value only after =', () => {
    assert.equal(boolFlag(parseFlags(SPECS, ['--dry-run']).values, 'dry-run'), true);
    assert.equal(boolFlag(parseFlags(SPECS, ['--dry_run=f']).values, 'dry-run'), false);
    const { values, positional } = parseFlags(SPECS, ['--dry-run', 'false']);
    assert.deepEqual([boolFlag(values, 'dry-run'), positional], [true, ['false']]);
  });

  test('CLI-1 lists are split at commas and add up', () => {
    assert.deepEqual(listFlag(parseFlags(SPECS, ['--cidrs=a,b', '--cidrs', 'c']).values, 'cidrs'), ['a', 'b', 'c']);
  });

  test('CLI-1 what follows -- is no flag', () => {
    assert.deepEqual(parseFlags(SPECS, ['--', '--dry-run']).positional, ['--dry-run']);
  });

  const errors: [string[], string][] = [
    [['--nonesuch'], 'unknown flag: --nonesuch'],
    [['-x'], "unknown shorthand flag: 'x' in -x"],
    [['--output'], 'flag needs an argument: --output'],
    [
      ['--dry-run=maybe'],
      'invalid argument "maybe" for "--dry-run" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
  ];
  for (const [args, message] of errors) {
    test(`CLI-1 ${args.join(' ')}: ${message}`, () =>
      assert.throws(() => parseFlags(SPECS, args), { name: 'FlagError', message }));
  }

  test('CLI-1 the help lists every flag with its usage', () => {
    assert.equal(
      describeFlags(SPECS),
      '      --dry-run       do nothing\n  -o, --output FORM   form of the output\n      --cidrs LIST    ranges',
    );
  });
});
