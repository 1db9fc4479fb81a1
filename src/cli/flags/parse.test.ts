import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bool, describeFlags, FlagError, flagTexts, int32, parseFlags, string, stringSlice } from './index.ts';

const NONE: readonly string[] = [];
const TABLE = {
  'dry-run': { type: bool, default: false, usage: 'do nothing', shorthand: 'd' },
  output: { type: string, default: 'text', usage: 'form of the output', shorthand: 'o', word: 'FORM' },
  cidrs: { type: stringSlice, default: NONE, usage: 'ranges' },
  'old-port': { type: int32, default: 1, usage: 'a port', deprecated: 'use --cidrs' },
};

describe('flags', () => {
  const forms: [string[], string][] = [
    [['--output=json'], 'json'],
    [['--output', 'json'], 'json'],
    [['-o', 'json'], 'json'],
    [['-o=json'], 'json'],
    [['-ojson'], 'json'],
    [['-o='], '='],
    [['-do', 'json'], 'json'],
    [['--output='], ''],
    [['--output', '--dry-run'], '--dry-run'],
    [['--output=a', '--output=b'], 'b'],
    [['--output=a=b'], 'a=b'],
    [[], 'text'],
  ];
  for (const [args, expected] of forms) {
    test(`CLI-1 ${args.join(' ') || 'no flag'} gives ${JSON.stringify(expected)}`, () =>
      assert.equal(parseFlags(TABLE, args).values.output, expected));
  }

  test('CLI-1 a bool takes its value only after =', () => {
    assert.equal(parseFlags(TABLE, ['--dry-run']).values['dry-run'], true);
    assert.equal(parseFlags(TABLE, ['--dry_run=f']).values['dry-run'], false);
    const { values, positional } = parseFlags(TABLE, ['--dry-run', 'false', '-', '']);
    assert.deepEqual([values['dry-run'], positional], [true, ['false', '-', '']]);
  });

  test('CLI-1 a flag on the command line counts as changed, also if its value is the default', () => {
    assert.deepEqual([...parseFlags(TABLE, ['--output=text', '-d']).changed], ['output', 'dry-run']);
  });

  test('CLI-1 arguments after -- are not flags', () => {
    assert.deepEqual(parseFlags(TABLE, ['--', '--dry-run', '--']).positional, ['--dry-run', '--']);
  });

  test('CLI-1 a deprecated flag works, and a notice names the replacement', () => {
    const { values, notices } = parseFlags(TABLE, ['--old-port=2']);
    assert.deepEqual([values['old-port'], notices], [2, ['Flag --old-port has been deprecated, use --cidrs\n']]);
  });

  const errors: [string[], string][] = [
    [['--none_such'], 'unknown flag: --none_such'],
    [['--toString'], 'unknown flag: --toString'],
    [['-x'], "unknown shorthand flag: 'x' in -x"],
    [['-é'], "unknown shorthand flag: 'Ã' in -é"],
    [['-dxy'], "unknown shorthand flag: 'x' in -xy"],
    [['--output'], 'flag needs an argument: --output'],
    [['-do'], "flag needs an argument: 'o' in -o"],
    [['---output'], 'bad flag syntax: ---output'],
    [['--=x'], 'bad flag syntax: --=x'],
    [
      ['--dry-run=maybe'],
      'invalid argument "maybe" for "-d, --dry-run" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    [['--old_port=x'], 'invalid argument "x" for "--old-port" flag: strconv.ParseInt: parsing "x": invalid syntax'],
  ];
  for (const [args, message] of errors) {
    test(`CLI-1 ${args.join(' ')}: ${message}`, () =>
      assert.throws(() => parseFlags(TABLE, args), { name: 'FlagError', message }));
  }

  test('CLI-4 the help lists every flag with its usage and default, except deprecated ones', () => {
    const indent = ' '.repeat(34);
    assert.deepEqual(describeFlags({ ...TABLE, 'a-flag-with-a-very-long-name': TABLE.cidrs }, 80), [
      '  -d, --dry-run                   do nothing',
      '  -o, --output FORM               form of the output (default "text")',
      '      --cidrs strings             ranges',
      '      --a-flag-with-a-very-long-name strings',
      `${indent}ranges`,
    ]);
  });

  test('CLI-4 the texts of flags are wrapped to the width, below the names if the terminal is narrow', () => {
    const usage = 'a text that is longer than the space that a narrow terminal has for it';
    assert.deepEqual(describeFlags({ output: { ...TABLE.output, usage } }, 50), [
      '  -o, --output FORM',
      '          a text that is longer than the space',
      '          that a narrow terminal has for it',
      '          (default "text")',
    ]);
    for (const width of [40, 69, 70, 80, 120]) {
      for (const line of describeFlags({ output: { ...TABLE.output, usage } }, width)) assert.ok(line.length <= width);
    }
  });

  test('CLI-19 an unknown flag has the nearest one as its suggestion, but no deprecated one', () => {
    const suggestionFor = (arg: string) => {
      try {
        parseFlags(TABLE, [arg]);
      } catch (error) {
        return error instanceof FlagError ? error.suggestion : error;
      }
      return assert.fail('no error');
    };
    assert.equal(suggestionFor('--dryrun'), '--dry-run');
    assert.equal(suggestionFor('--ouptut=x'), '--output');
    assert.equal(suggestionFor('--old-prt=1'), undefined);
    assert.equal(suggestionFor('--dance'), undefined);
  });

  test('CLI-5 flagTexts returns all flags with their values, sorted by name', () => {
    assert.deepEqual(flagTexts(TABLE, parseFlags(TABLE, ['--cidrs=a,b']).values), [
      { name: 'cidrs', value: '[a,b]' },
      { name: 'dry-run', value: 'false' },
      { name: 'old-port', value: '1' },
      { name: 'output', value: 'text' },
    ]);
  });
});
