import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changedRules, partialText, type RulesByPort } from './diff.ts';
import type { ChainName } from './names.ts';
import { fullText } from './portals/restore-text.ts';
import type { PortalRule } from './render.ts';

const CHAINS: readonly ChainName[] = ['KUBE-PORTALS-CONTAINER', 'KUBE-PORTALS-HOST', 'KUBE-PORTALS-FILTER'];

/** The rules that a kernel has after restores, by chain. */
class Kernel {
  readonly #rules = new Map<string, string[]>();

  restore(text: string): void {
    for (const line of text.split('\n')) {
      const [, verb, chain = '', rule = ''] = /^(-A|-D) (\S+) (.*)$/.exec(line) ?? [];
      const rules = this.#rules.get(chain) ?? [];
      if (verb === '-A') this.#rules.set(chain, [...rules, rule]);
      if (verb === '-D') {
        assert.ok(rules.includes(rule), `there is no rule ${rule}`);
        rules.splice(rules.indexOf(rule), 1);
      }
    }
  }

  /** The rules of a service port in each chain, in order. */
  rulesOf(port: string): readonly (readonly string[])[] {
    return CHAINS.map(chain => (this.#rules.get(chain) ?? []).filter(rule => rule.startsWith(`${port} `)));
  }
}

const PORTS = ['one', 'two', 'three'];
const rulesFor = (port: string): fc.Arbitrary<readonly PortalRule[]> =>
  fc.uniqueArray(
    fc.record({ chain: fc.constantFrom(...CHAINS), text: fc.integer({ min: 0, max: 4 }).map(at => `${port} ${at}`) }),
    { maxLength: 6, selector: ({ chain, text }) => chain + text },
  );
const change = fc
  .constantFrom(...PORTS)
  .chain(port => rulesFor(port).map((rules): readonly [string, readonly PortalRule[]] => [port, rules]));

test('USER-26 after any changes each service port has the rules of a fresh start, in their order', () =>
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 10 }), history => {
      const kernel = new Kernel();
      const committed = new Map<string, readonly PortalRule[]>();
      for (const changes of history) {
        const changed: RulesByPort = changedRules(committed, new Map(changes));
        kernel.restore(partialText(committed, changed));
        for (const [port, rules] of changed) committed.set(port, rules);
      }
      const fresh = new Kernel();
      fresh.restore(fullText([...committed.values()].flat(), []));
      for (const port of PORTS) assert.deepEqual(kernel.rulesOf(port), fresh.rulesOf(port));
    }),
    { seed: 26 },
  ));
