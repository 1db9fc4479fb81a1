import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from '../../../test/read-back/equal.ts';
import { lineText } from '../../../test/support/listed-lines.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { ModeHarness, modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { withNamespace } from '../../../test/support/namespaces.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { Backend } from '../../kernel/iptables/index.ts';
import type { ModeEvents } from '../mode.ts';
import { IptablesMode } from './mode.ts';
import { previewIptables } from './preview.ts';

const KEPT =
  '-A KUBE-POSTROUTING -p tcp -m addrtype --src-type LOCAL -m comment --comment "keep source ports of node processes" -j MASQUERADE';
const RANDOM =
  '-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully';
const PERIOD_MS = 30_000;

interface Lab {
  readonly harness: ModeHarness<IptablesMode>;
  readonly clock: ManualClock;
  /** The rules that masquerade. */
  rules(): readonly string[];
  iptables(...args: string[]): void;
  /** A new process, with or without the flag. */
  restart(keepNodeSourcePorts: boolean): Promise<unknown>;
  /** What would bring the kernel to the plans. */
  preview(keepNodeSourcePorts: boolean): Promise<string>;
}

async function withLab(backend: Backend, work: (lab: Lab) => Promise<void>): Promise<void> {
  await withNamespace(async namespace => {
    const clock = new ManualClock();
    const create = (keepNodeSourcePorts: boolean) => (events: ModeEvents) =>
      new IptablesMode({ namespace, events, clock, keepNodeSourcePorts, programs: { backend } });
    const harness = new ModeHarness(create(true));
    const program = backend === 'legacy' ? 'iptables-legacy' : 'iptables-nft';
    const settings = modeSettingsFor('IPv4');
    const input = { family: 'IPv4', settings, against: 'kernel', namespace, programs: { backend } } as const;
    try {
      harness.set(service('web'), slice('web-1', ['10.244.1.2']));
      await harness.sync();
      await work({
        harness,
        clock,
        rules: () =>
          runIn(namespace, `${program}-save`, ['-t', 'nat'])
            .split('\n')
            .filter(line => line.includes('-j MASQUERADE')),
        iptables: (...args) => void runIn(namespace, program, ['-w', '-t', 'nat', ...args]),
        restart: keep => harness.restart(create(keep)),
        preview: keepNodeSourcePorts => previewIptables({ keepNodeSourcePorts }, { ...input, plans: harness.plans() }),
      });
    } finally {
      await harness.close();
    }
  });
}

for (const backend of ['nf_tables', 'legacy'] as const) {
  test(`IPT-19 a restart with the flag adds the rule that keeps ports, and one without it removes that rule (${backend})`, () =>
    withLab(backend, async ({ rules, restart, preview }) => {
      assert.deepEqual(rules(), [KEPT, RANDOM]);
      assert.equal(await preview(true), '');
      assert.match(await preview(false), /^:KUBE-POSTROUTING /m);
      await restart(false);
      assert.deepEqual(rules(), [RANDOM]);
      assert.equal(await preview(false), '');
      assert.ok((await preview(true)).includes(KEPT));
      await restart(true);
      assert.deepEqual(rules(), [KEPT, RANDOM]);
    }));

  test(`IPT-19 a reading and the listing have the rule, and the mode repairs it (${backend})`, () =>
    withLab(backend, async ({ harness, clock, rules, iptables }) => {
      const plans = harness.plans();
      const [plan = assert.fail()] = plans;
      assert.deepEqual(differences((await harness.mode.readBack('IPv4', plan)).entries), []);
      const { blocks } = await harness.mode.listing('IPv4', plans);
      const chain = blocks.find(({ id }) => id === 'chain nat KUBE-POSTROUTING');
      assert.ok(chain?.lines.map(lineText).some(line => line.includes('--src-type LOCAL')));
      iptables('-D', 'KUBE-POSTROUTING', '3');
      assert.deepEqual(rules(), [RANDOM]);
      await clock.advance(PERIOD_MS);
      await waitFor('the mode has repaired the rules', () => rules().length === 2);
      assert.deepEqual(rules(), [KEPT, RANDOM]);
    }));
}
