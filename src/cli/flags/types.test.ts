import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatCsv, parseCsv } from './csv.ts';
import {
  bool,
  duration,
  type FlagType,
  float32,
  int32,
  ip,
  ipPort,
  level,
  mapStringBool,
  quantity,
  stringSlice,
  version,
  vmodule,
} from './index.ts';

/** Returns the text of a flag's value after these occurrences. */
function valueAfter<T>(type: FlagType<T>, start: T, ...texts: readonly string[]): string {
  const end = texts.reduce((current, text, i) => type.parse(text, current, i === 0), start);
  return type.format(end);
}

function accepts<T>(name: string, type: FlagType<T>, start: T, cases: Record<string, string>): void {
  for (const [text, expected] of Object.entries(cases)) {
    test(`CLI-6 ${name} ${JSON.stringify(text)} is ${expected}`, () =>
      assert.equal(valueAfter(type, start, text), expected));
  }
}

function refuses<T>(name: string, type: FlagType<T>, start: T, cases: Record<string, string>): void {
  for (const [text, message] of Object.entries(cases)) {
    test(`CLI-6 ${name} ${JSON.stringify(text)}: ${message}`, () =>
      assert.throws(() => type.parse(text, start, true), { message }));
  }
}

describe('values of flags', () => {
  accepts('bool', bool, false, { T: 'true', '1': 'true', False: 'false', f: 'false' });
  refuses('bool', bool, false, { yes: 'strconv.ParseBool: parsing "yes": invalid syntax' });

  accepts('int32', int32, 0, {
    '-7': '-7',
    '+7': '7',
    '0x1F': '31',
    '010': '8',
    '0b11': '3',
    '1_000': '1000',
    '-2147483648': '-2147483648',
  });
  refuses('int32', int32, 0, {
    '': 'strconv.ParseInt: parsing "": invalid syntax',
    '1.5': 'strconv.ParseInt: parsing "1.5": invalid syntax',
    '09': 'strconv.ParseInt: parsing "09": invalid syntax',
    '1__0': 'strconv.ParseInt: parsing "1__0": invalid syntax',
    '2147483648': 'strconv.ParseInt: parsing "2147483648": value out of range',
  });

  accepts('float32', float32, 0, {
    '5': '5',
    '0.1': '0.1',
    '.5': '0.5',
    '-1': '-1',
    '1e3': '1000',
    '1000000': '1e+06',
    '1.2e-7': '1.2e-07',
    '16777217': '1.6777216e+07',
    inf: '+Inf',
    NaN: 'NaN',
    '-0': '-0',
    '1_000': '1000',
    '1_0.2_5e0_1': '102.5',
    '0x1.8p3': '12',
    '-0x_ap-2': '-2.5',
    '0x.8p1': '1',
  });
  refuses('float32', float32, 0, {
    five: 'strconv.ParseFloat: parsing "five": invalid syntax',
    '1__0': 'strconv.ParseFloat: parsing "1__0": invalid syntax',
    '1_.5': 'strconv.ParseFloat: parsing "1_.5": invalid syntax',
    '0x10': 'strconv.ParseFloat: parsing "0x10": invalid syntax',
    '0x.p1': 'strconv.ParseFloat: parsing "0x.p1": invalid syntax',
    '1e39': 'strconv.ParseFloat: parsing "1e39": value out of range',
  });
  test('CLI-6 a float32 keeps its decimal number', () => assert.equal(float32.parse('0.1', 0, true), 0.1));

  accepts('Level', level, 0, { '4': '4', '2147483647': '2147483647' });
  refuses('Level', level, 0, {
    '-1': 'strconv.ParseUint: parsing "-1": invalid syntax',
    '2147483648': 'strconv.ParseUint: parsing "2147483648": value out of range',
  });

  accepts('duration', duration, 0n, { '90s': '1m30s', '0': '0s', '-1h': '-1h0m0s' });
  refuses('duration', duration, 0n, { '10': 'time: missing unit in duration "10"' });

  accepts('ip', ip, '0.0.0.0', { '': '0.0.0.0', '010.1.1.1': '010.1.1.1', '::': '::' });
  refuses('ip', ip, '', {
    '300.1.1.1': '"300.1.1.1" is not a valid IP address',
    '[::]': '"[::]" is not a valid IP address',
  });

  const ipPorts = ['10.0.0.1', '10.0.0.1:0', '::1', '[::1]:65535'];
  accepts('ipport', ipPort, '0.0.0.0:1', { '': '0.0.0.0:1', ...Object.fromEntries(ipPorts.map(text => [text, text])) });
  const badAddress = (text: string, why: string) =>
    `"${text}" is not in a valid format (ip or ip:port): address ${text}: ${why}`;
  refuses('ipport', ipPort, '', {
    '127.0.0.1:99999': '"99999" is not a valid number',
    '127.0.0.1:': '"" is not a valid number',
    ':80': '"" is not a valid IP address',
    'host:80': '"host" is not a valid IP address',
    host: badAddress('host', 'missing port in address'),
    '[::1]': badAddress('[::1]', 'missing port in address'),
    '[::1]80': badAddress('[::1]80', 'missing port in address'),
    '[::1]:80:90': badAddress('[::1]:80:90', 'too many colons in address'),
    '[::1:80': badAddress('[::1:80', "missing ']' in address"),
    '1:2:x': badAddress('1:2:x', 'too many colons in address'),
    '1[2:80': badAddress('1[2:80', "unexpected '[' in address"),
    '1]2:80': badAddress('1]2:80', "unexpected ']' in address"),
  });

  const gates = new Map([['old', true]]);
  accepts('mapStringBool', mapStringBool, gates, { '': '', 'b=false, a = T ,': 'a=true,b=false' });
  refuses('mapStringBool', mapStringBool, gates, {
    a: 'malformed pair, expect string=bool',
    'a=maybe': 'invalid value of a: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
  });
  test('CLI-6 the first mapStringBool replaces the default, later ones add', () =>
    assert.equal(valueAfter(mapStringBool, gates, 'a=true,b=true', 'b=false'), 'a=true,b=false'));

  accepts('vmodule', vmodule, [], { 'a*=2,b=0,': 'a*=2,b=0', '': '' });
  refuses('vmodule', vmodule, [], {
    a: '"a" does not have the pattern=N format',
    'a=1=2': '"a=1=2" does not have the pattern=N format',
    'a=x': 'parsing verbosity in "a=x": strconv.ParseUint: parsing "x": invalid syntax',
  });
  test('CLI-6 each vmodule adds to the former ones', () =>
    assert.equal(valueAfter(vmodule, [], 'a=1', 'b=2'), 'a=1,b=2'));

  accepts('stringSlice', stringSlice, ['old'], {
    '': '[]',
    'a,b': '[a,b]',
    '"a,b",c': '["a,b",c]',
    'a,': '[a,]',
    'a\nb': '[a]',
    '"x""y"': '["x""y"]',
  });
  refuses('stringSlice', stringSlice, [], {
    'a"b': 'parse error on line 1, column 2: bare " in non-quoted-field',
    'x,"a"b': 'parse error on line 1, column 5: extraneous or missing " in quoted-field',
    '"a': 'parse error on line 1, column 3: extraneous or missing " in quoted-field',
    '\n': 'EOF',
  });
  test('CLI-6 the first stringSlice replaces the default, later ones add', () =>
    assert.equal(valueAfter(stringSlice, ['old'], 'a,b', 'c', ''), '[a,b,c]'));
  test('CLI-6 a list is the same after writing and reading', () => {
    const value = fc.string({ unit: fc.constantFrom(...'ab," \\.') });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1 }).filter(([only, ...rest]) => only !== '' || rest.length > 0),
        values => assert.deepEqual(parseCsv(formatCsv(values)), values),
      ),
    );
  });

  accepts('quantity', quantity, '0', {
    '0': '0',
    '1024': '1024',
    '64Ki': '64Ki',
    '1024Ki': '1Mi',
    '1000': '1k',
    '1.5Gi': '1536Mi',
  });
  refuses('quantity', quantity, '0', {
    '': "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    '1KK': "unable to parse quantity's suffix",
  });

  accepts('quantity', quantity, '0', { '+1': '+1', '05': '05', '1E3': '1E3', '5.0': '5' });

  const ours = version('v1.36.4');
  const notGiven = { choice: 'false', reported: 'v1.36.4' };
  accepts('version', ours, notGiven, {
    t: 'true',
    '0': 'false',
    raw: 'raw',
    'v1.36.4': 'v1.36.4',
    'v1.36.4-eks.1+b.2': 'v1.36.4-eks.1+b.2',
  });
  refuses('version', ours, notGiven, {
    maybe: 'strconv.ParseBool: parsing "maybe": invalid syntax',
    'v1.36.5': 'version "v1.36.5" must match major/minor/patch of default version "v1.36.4"',
    v1: 'illegal version string "v1"',
    'v18446744073709551616.0.0':
      'illegal non-numeric version component "18446744073709551616" in "v18446744073709551616.0.0": strconv.ParseUint: parsing "18446744073709551616": value out of range',
    vx: 'could not parse "vx" as version',
    'v1.36.04': 'illegal zero-prefixed version component "04" in "v1.36.04"',
    'v1.36.4-01': 'illegal zero-prefixed version component "01" in "v1.36.4-01"',
    'v1.36.4~x': 'could not parse pre-release/metadata (~x) in version "v1.36.4~x"',
  });
  test('CLI-6 --version after --version=vX.Y.Z keeps the version to report', () =>
    assert.deepEqual(ours.parse('true', ours.parse('v1.36.4-x', notGiven, true), false), {
      choice: 'true',
      reported: 'v1.36.4-x',
    }));
});
