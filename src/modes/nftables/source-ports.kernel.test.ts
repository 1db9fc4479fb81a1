import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from '../../../test/read-back/equal.ts';
import { lineText } from '../../../test/support/listed-lines.ts';
import { ModeHarness, modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { withNamespace } from '../../../test/support/namespaces.ts';
import { nft } from '../../../test/support/nftables-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import type { ModeEvents } from '../mode.ts';
import { NftablesMode } from './mode.ts';
import { previewNftables } from './preview.ts';

const CHAIN = ['chain', 'ip', 'kube-proxy', 'masquerading'] as const;
const MARKED = 'meta mark & 0x00004000 != 0x00000000';
const UNMARK = 'meta mark set meta mark ^ 0x00004000';
const KEPT = `${MARKED} meta l4proto tcp fib saddr type local ${UNMARK} masquerade comment "keep source ports of node processes"`;
const RANDOM = [
  `${MARKED} ${UNMARK} masquerade fully-random`,
  'ct status dnat ip saddr . ip daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random',
];

interface Lab {
  readonly namespace: NetworkNamespace;
  readonly harness: ModeHarness<NftablesMode>;
  /** A new process, with or without the flag. */
  restart(keepNodeSourcePorts: boolean): Promise<unknown>;
}

async function withLab(work: (lab: Lab) => Promise<void>): Promise<void> {
  await withNamespace(async namespace => {
    const create = (keepNodeSourcePorts: boolean) => (events: ModeEvents) =>
      new NftablesMode({ namespace, events, keepNodeSourcePorts });
    const harness = new ModeHarness(create(true));
    try {
      harness.set(service('web'), slice('web-1', ['10.244.1.2']));
      await harness.sync();
      await work({ namespace, harness, restart: keep => harness.restart(create(keep)) });
    } finally {
      await harness.close();
    }
  });
}

function rules(namespace: NetworkNamespace): readonly string[] {
  const lines = nft(namespace, 'list', ...CHAIN).split('\n');
  return lines.map(line => line.trim()).filter(line => line.includes('masquerade') && !line.startsWith('chain'));
}

test('NFT-56 a restart with the flag adds the rule that keeps ports, and one without it removes that rule', () =>
  withLab(async ({ namespace, restart }) => {
    assert.deepEqual(rules(namespace), [KEPT, ...RANDOM]);
    await restart(false);
    assert.deepEqual(rules(namespace), RANDOM);
    await restart(true);
    assert.deepEqual(rules(namespace), [KEPT, ...RANDOM]);
  }));

test('NFT-56 a reading and the listing have the rule, and the mode repairs it', () =>
  withLab(async ({ namespace, harness }) => {
    const plans = harness.plans();
    const [plan = assert.fail()] = plans;
    assert.deepEqual(differences((await harness.mode.readBack('IPv4', plan)).entries), []);
    const { blocks } = await harness.mode.listing('IPv4', plans);
    const chain = blocks.find(({ name }) => name === 'masquerading');
    assert.deepEqual(chain?.lines.map(lineText), [KEPT, ...RANDOM]);
    nft(namespace, 'flush', ...CHAIN);
    await waitFor('the mode has repaired the rules', () => rules(namespace).length === 3);
    assert.deepEqual(rules(namespace), [KEPT, ...RANDOM]);
  }));

test('NFT-56 a preview has the rule with the flag only', () =>
  withLab(async ({ namespace, harness, restart }) => {
    const preview = (keepNodeSourcePorts: boolean) => {
      const settings = modeSettingsFor('IPv4');
      const input = { family: 'IPv4', plans: harness.plans(), settings, against: 'kernel', namespace } as const;
      return previewNftables({ keepNodeSourcePorts }, input);
    };
    assert.equal(await preview(true), '');
    const changes = (await preview(false)).split('\n').filter(line => /^(add|flush|delete)/.test(line));
    assert.deepEqual(changes[0], 'flush chain ip kube-proxy masquerading');
    assert.deepEqual(
      changes.slice(1),
      RANDOM.map(rule => `add rule ip kube-proxy masquerading ${rule}`),
    );
    await restart(false);
    assert.equal(await preview(false), '');
  }));
