import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testControlGroup, withControlGroup } from '../../../../test/support/bpf-lab.ts';
import { withCapabilities } from '../../../../test/support/with-capabilities.ts';
import { BpfLink, BpfMap, BpfProgram } from '../../../kernel/bpf/index.ts';
import { MAP_NAMES, type MapName, mapSpec, type ProgramOptions, socketPrograms } from './index.ts';

const BOTH = [false, true];

function* allOptions(): Generator<ProgramOptions> {
  for (const scope of ['all', 'node', 'listed'] as const) {
    for (const hasAffinity of BOTH) {
      for (const hasLeastConnections of BOTH) {
        for (const countsConnections of BOTH) {
          for (const canRefuse of BOTH) {
            yield { nodeCookie: 1n, scope, hasAffinity, hasLeastConnections, countsConnections, canRefuse };
          }
        }
      }
    }
  }
}

/** Makes every map, loads the programs with these options, and attaches them. */
function attach(all: Iterable<ProgramOptions>): void {
  const maps = new Map(MAP_NAMES.map(name => [name as string, BpfMap.create(mapSpec(name, 8))]));
  const mapOf = (name: string) => maps.get(name)?.fd ?? assert.fail(`there is no map ${name}`);
  try {
    for (const options of all) {
      for (const spec of socketPrograms(options)) {
        const program = BpfProgram.load(spec, mapOf);
        // The maps are empty, so the programs translate nothing meanwhile.
        withControlGroup(testControlGroup(), group => BpfLink.create(program, group)).close();
        program.close();
      }
    }
  } finally {
    for (const map of maps.values()) map.close();
  }
}

describe('EBPF-10 capabilities', () => {
  test('EBPF-10 CAP_BPF and CAP_NET_ADMIN load and attach the programs with all their options', () => {
    testControlGroup();
    withCapabilities(['CAP_BPF', 'CAP_NET_ADMIN'], () => attach(allOptions()));
  });

  test('EBPF-10 the kernel refuses programs without one of them', () => {
    const [options] = allOptions();
    for (const capability of ['CAP_BPF', 'CAP_NET_ADMIN'] as const) {
      assert.throws(() => withCapabilities([capability], () => attach(options ? [options] : [])), { errno: 'EPERM' });
    }
  });
});

test('EBPF-15 programs name no map of a part that they do not have', () => {
  const mapsOf = (options: Partial<ProgramOptions>) => {
    const plain = { hasAffinity: false, hasLeastConnections: false, countsConnections: false, canRefuse: false };
    const all = socketPrograms({ nodeCookie: 1n, scope: 'all', ...plain, ...options });
    return new Set(all.flatMap(({ assembled }) => assembled.references.map(({ map }) => map)));
  };
  const least: readonly MapName[] = [
    'frontends4',
    'frontends6',
    'nodeAddresses4',
    'nodeAddresses6',
    'pools',
    'slots4',
    'slots6',
    'lease',
    'peers',
  ];
  const more = (options: Partial<ProgramOptions>) =>
    [...mapsOf(options)].filter(name => !least.includes(name as MapName));
  assert.deepEqual([...mapsOf({})].sort(), [...least].sort());
  assert.deepEqual(more({ hasAffinity: true }).sort(), ['affinity4', 'affinity6', 'members4', 'members6']);
  assert.deepEqual(more({ hasLeastConnections: true }).sort(), ['active4', 'active6']);
  assert.deepEqual(more({ countsConnections: true }), ['counts']);
  assert.deepEqual(more({ scope: 'listed' }), ['namespaces']);
  assert.deepEqual(more({ scope: 'node', canRefuse: true }), []);
});
