import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyFeatureGates, defaultFeatureGates, FEATURE_GATES, isEnabled, knownFeatures } from './index.ts';

function apply(settings: Readonly<Record<string, boolean>>) {
  return applyFeatureGates(new Map(Object.entries(settings)));
}

function gatesOf(settings: Readonly<Record<string, boolean>>) {
  const applied = apply(settings);
  assert.ok(applied.kind === 'gates');
  return applied.gates;
}

test('CONF-14 the table has the gates of kube-proxy v1.37 with stage, default and lock', () => {
  const count = (stage: string) => [...FEATURE_GATES.values()].filter(gate => gate.stage === stage).length;
  assert.deepEqual(['ALPHA', 'BETA', 'GA', 'DEPRECATED'].map(count), [56, 108, 71, 17]);
  const shown = (name: string) => {
    const gate = FEATURE_GATES.get(name);
    return gate && `${gate.stage} ${gate.default}${gate.locked ? ' locked' : ''}`;
  };
  assert.equal(shown('AllowServiceExternalIPs'), 'GA true');
  assert.equal(shown('MultiCIDRServiceAllocator'), 'GA true locked');
  assert.equal(shown('PreferSameTrafficDistribution'), 'GA true locked');
  assert.equal(shown('NFTablesProxyMode'), 'GA true locked');
  assert.equal(shown('ComponentFlagz'), 'BETA true');
  assert.equal(shown('ComponentStatusz'), 'BETA true');
  assert.equal(shown('NativeHistograms'), 'BETA true');
  assert.equal(shown('ContextualLogging'), 'BETA true');
  assert.equal(shown('LoggingAlphaOptions'), 'ALPHA false');
  assert.equal(shown('LoggingBetaOptions'), 'BETA true');
  assert.equal(shown('WatchListClient'), 'BETA true');
  assert.equal(shown('CBORServingAndStorage'), 'ALPHA false');
  assert.equal(shown('KubeProxyIPVS'), 'DEPRECATED true');
  assert.equal(shown('NFTablesNetlink'), 'BETA true');
  assert.equal(shown('KubeProxyNFTablesLocalhostNodePorts'), 'ALPHA false');
});

test('CONF-14 a gate has the value that was set, or else its default', () => {
  const gates = gatesOf({ ComponentFlagz: false });
  assert.equal(isEnabled(gates, 'ComponentFlagz'), false);
  assert.equal(isEnabled(gates, 'ComponentStatusz'), true);
  assert.equal(isEnabled(defaultFeatureGates, 'LoggingAlphaOptions'), false);
  assert.throws(() => isEnabled(gates, 'Nope'), RangeError);
});

test('CONF-14 unknown gates are refused, also those of former releases', () => {
  for (const name of [
    'Nope',
    'KubeProxyDrainingTerminatingNodes',
    'TopologyAwareHints',
    'ServiceTrafficDistribution',
  ]) {
    assert.deepEqual(apply({ ContextualLogging: true, [name]: true }), {
      kind: 'error',
      message: `unrecognized feature gate: ${name}`,
    });
  }
});

test('CONF-14 a locked gate can be set only to its default', () => {
  assert.deepEqual(apply({ NFTablesProxyMode: false }), {
    kind: 'error',
    message: 'cannot set feature gate NFTablesProxyMode to false, feature is locked to true',
  });
  assert.deepEqual(apply({ NFTablesProxyMode: false, MultiCIDRServiceAllocator: false, Nope: true }), {
    kind: 'error',
    message:
      '[cannot set feature gate NFTablesProxyMode to false, feature is locked to true, cannot set feature gate MultiCIDRServiceAllocator to false, feature is locked to true, unrecognized feature gate: Nope]',
  });
  assert.equal(isEnabled(gatesOf({ NFTablesProxyMode: true }), 'NFTablesProxyMode'), true);
});

test('CONF-37 a gate that v1.37 locks and v1.36 does not keeps its value, with a warning', () => {
  const applied = apply({ HPAConfigurableTolerance: false });
  assert.equal(applied.kind, 'gates');
  assert.equal(isEnabled(gatesOf({ HPAConfigurableTolerance: false }), 'HPAConfigurableTolerance'), true);
  assert.deepEqual(applied.kind === 'gates' && applied.warnings, [
    {
      message: 'The feature gate is locked to true. The setting has no effect: remove it.',
      featureGate: 'HPAConfigurableTolerance',
      value: false,
    },
  ]);
});

test('CONF-14 a GA or deprecated gate takes effect with a warning', () => {
  const applied = apply({
    AllowServiceExternalIPs: false,
    DisableNodeKubeProxyVersion: true,
    ContextualLogging: false,
  });
  assert.ok(applied.kind === 'gates');
  assert.equal(isEnabled(applied.gates, 'AllowServiceExternalIPs'), false);
  const future = 'It will be removed in a future release.';
  assert.deepEqual(applied.warnings, [
    { message: `Warning: setting GA feature gate. ${future}`, featureGate: 'AllowServiceExternalIPs', value: false },
    {
      message: `Warning: setting deprecated feature gate. ${future}`,
      featureGate: 'DisableNodeKubeProxyVersion',
      value: true,
    },
  ]);
});

test('CONF-14 AllAlpha and AllBeta set the gates of a stage that are not set by name', () => {
  const gates = gatesOf({ StorageVersionAPI: false, AllAlpha: true });
  assert.equal(isEnabled(gates, 'StorageVersionAPI'), false);
  assert.equal(isEnabled(gates, 'LoggingAlphaOptions'), true);
  assert.equal(isEnabled(gates, 'ContextualLogging'), true);
  const beta = gatesOf({ AllBeta: false, ContextualLogging: true });
  assert.equal(isEnabled(beta, 'ContextualLogging'), true);
  assert.equal(isEnabled(beta, 'LoggingBetaOptions'), false);
  assert.equal(isEnabled(beta, 'NFTablesProxyMode'), true);
});

test('CONF-14 an enabled gate needs the gates that it depends on', () => {
  assert.deepEqual(apply({ AllAlpha: true, AllBeta: false }), {
    kind: 'error',
    message:
      '[CompositePodGroup is enabled, but depends on features that are disabled: [GenericWorkload], DRADeviceCompatibilityGroups is enabled, but depends on features that are disabled: [DRAPartitionableDevices], DRAPartitionableDevicesType is enabled, but depends on features that are disabled: [DRAPartitionableDevices], PodGroupPreemptionPolicy is enabled, but depends on features that are disabled: [GenericWorkload], StorageVersionAPI is enabled, but depends on features that are disabled: [APIServerIdentity], TopologyAwareWorkloadScheduling is enabled, but depends on features that are disabled: [GenericWorkload], WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]]',
  });
});

test('CONF-37 AllAlpha enables the beta gates that alpha gates need, unless they are set', () => {
  assert.equal(isEnabled(gatesOf({ AllAlpha: true }), 'GenericWorkload'), true);
  assert.deepEqual(apply({ AllAlpha: true, GenericWorkload: false }), {
    kind: 'error',
    message:
      '[CompositePodGroup is enabled, but depends on features that are disabled: [GenericWorkload], PodGroupPreemptionPolicy is enabled, but depends on features that are disabled: [GenericWorkload], TopologyAwareWorkloadScheduling is enabled, but depends on features that are disabled: [GenericWorkload], WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]]',
  });
});

test('CONF-14 the help lists alpha and beta gates', () => {
  const known = knownFeatures();
  assert.equal(known.length, 166);
  assert.equal(known[0], 'APIResponseCompression=true|false (BETA - default=true)');
  assert.ok(known.includes('AllAlpha=true|false (ALPHA - default=false)'));
  assert.ok(known.includes('AllBeta=true|false (BETA - default=false)'));
  assert.ok(
    known.includes(
      'DRAFractionalCapacityRange=true|false (BETA - default=false), or DRAFractionalCapacityRange=true|false (BETA - default=true) if --min-compatibility-version>=1.37',
    ),
  );
  for (const name of ['NFTablesProxyMode', 'KubeProxyIPVS', 'PreventStaticPodAPIReferences']) {
    assert.ok(!known.some(line => line.startsWith(name)), name);
  }
});

test('CONF-37 a gate that only v1.36 has is accepted, and changes nothing', () => {
  assert.deepEqual(apply({ PreventStaticPodAPIReferences: false, GangScheduling: true }), {
    kind: 'gates',
    gates: {
      enabled: new Map([
        ['PreventStaticPodAPIReferences', false],
        ['GangScheduling', true],
      ]),
    },
    warnings: [],
  });
  const sidecars = apply({ SidecarContainers: true });
  assert.ok(sidecars.kind === 'gates');
  assert.deepEqual(
    sidecars.warnings.map(({ message }) => message),
    ['Warning: setting GA feature gate. It will be removed in a future release.'],
  );
  assert.deepEqual(apply({ SidecarContainers: false }), {
    kind: 'error',
    message: 'cannot set feature gate SidecarContainers to false, feature is locked to true',
  });
  assert.ok(!FEATURE_GATES.has('SidecarContainers'));
});
