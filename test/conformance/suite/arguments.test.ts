import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readArguments } from './arguments.ts';
import { CONNECTIONS, MAIN_LIST, type Selection, SHORT_SELECTION } from './selections.ts';
import recorded from './upstream.json' with { type: 'json' };

function selected({ focus, skip }: Selection): readonly string[] {
  const names = Object.keys(recorded.modes.nftables);
  return names.filter(name => new RegExp(focus).test(name) && !new RegExp(skip).test(name));
}

describe('the arguments of npm run conformance', () => {
  test('CONFORM-1 without flags it tests Pointsman in nftables mode, as pods, with the main list', () => {
    assert.deepEqual(readArguments([], 2), {
      mode: 'nftables',
      way: 'pods',
      selection: MAIN_LIST,
      isUpstream: false,
      whileItRuns: false,
      records: false,
      procs: 8,
      keep: false,
      output: 'build/conformance-results',
    });
  });

  test('CONFORM-1 flags choose the mode, the way, the tests and the proxy', () => {
    const flags = ['--proxy-mode', 'iptables', '--as', 'process', '--focus', 'DNS', '--upstream', '--procs', '3'];
    const args = readArguments(flags, 2);
    assert.equal(args?.mode, 'iptables');
    assert.equal(args?.way, 'process');
    assert.deepEqual(args?.selection, { ...MAIN_LIST, focus: 'DNS' });
    assert.equal(args?.isUpstream, true);
    assert.equal(args?.procs, 3);
    assert.equal(readArguments(['--short'], 2)?.selection, SHORT_SELECTION);
    assert.equal(readArguments(['--while-it-runs'], 2)?.selection, CONNECTIONS);
    assert.equal(readArguments(['--help'], 2), undefined);
  });

  for (const [flags, message] of [
    [['--proxy-mode', 'ipvs'], /--proxy-mode must be one of nftables, iptables, userspace, ebpf, and is ipvs/],
    [['--as', 'unit'], /--as must be one of pods, process, and is unit/],
    [['--procs', '0'], /--procs must be a whole number, and is 0/],
    [['--record'], /add --upstream/],
    [['--upstream', '--proxy-mode', 'ebpf'], /upstream has no ebpf mode/],
    [['--short', '--focus', 'DNS'], /exclude each other/],
    [['--while-it-runs', '--upstream'], /leave --upstream, --as and --proxy-mode out/],
    [['--while-it-runs', '--as', 'process'], /leave --upstream, --as and --proxy-mode out/],
    [['--focus', '('], /Invalid regular expression/],
    [['--fokus', 'DNS'], /Unknown option/],
  ] as const) {
    test(`CONFORM-1 it refuses ${flags.join(' ')}`, () => assert.throws(() => readArguments(flags, 2), message));
  }
});

describe('the selections', () => {
  test('CONFORM-2 the main list selects every test that is recorded', () => {
    assert.equal(selected(MAIN_LIST).length, Object.keys(recorded.modes.nftables).length);
  });

  test('CONFORM-2 the short selection is a part of the main list, with every kind of Service', () => {
    const names = selected(SHORT_SELECTION);
    assert.ok(selected(CONNECTIONS).length >= 10, 'tests of connections');
    assert.ok(names.length >= 50 && names.length <= 80, `${names.length} tests`);
    for (const word of ['NodePort', 'ExternalIP', 'LoadBalancer', 'affinity', 'udp', 'Secondary IP Family', 'DNS']) {
      assert.ok(
        names.some(name => name.includes(word)),
        word,
      );
    }
  });
});
