import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Explanation, explain, parseQuestion } from '../../src/explain/index.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { service, slice } from '../support/objects.ts';
import { runIn } from '../support/run-in.ts';
import { type ExplainedCase, withExplainedCase } from './explained-case.ts';
import type { Mode } from './modes.ts';
import { caseSettings } from './settings.ts';
import type { StartOptions } from './start-proxy.ts';

const PODS = [
  { ip: '10.244.1.2', nodeName: 'node-a' },
  { ip: '10.244.2.3', nodeName: 'other-node' },
];
const OBJECTS = [
  service('web', { clusterIP: '10.96.0.10', ports: [{ port: 80, targetPort: 8080 }] }),
  slice('web-1', PODS),
  service('dns', { clusterIP: '10.96.0.53', ports: [{ port: 53, protocol: 'UDP' }] }),
  slice('dns-1', PODS, { service: 'dns', ports: [{ name: '', port: 53, protocol: 'UDP' }] }),
];
const CALLER = '10.244.1.200';
const TCP = `10.96.0.10:80 from ${CALLER}`;
const UDP = `10.96.0.53:53/udp from ${CALLER}`;

/** Something that another program does to the node, and what an explanation must say of it. */
export interface Damage {
  readonly name: string;
  readonly command: string | ((run: Run) => string);
  readonly question?: string;
  readonly summary: RegExp;
  /** The next command of the answer. */
  readonly next: RegExp;
}

/** Runs a line of the shell on the node. */
export type Run = (line: string) => string;

const REPAIRED = /^kube-proxy history --since 10m$/;

export function missing(name: string, command: Damage['command'], summary: RegExp): Damage {
  return { name, command, summary, next: REPAIRED };
}

/** A UDP flow to an endpoint that is gone. All modes use connection tracking. */
export const PINNED: Damage = {
  name: 'a connection is pinned to an old endpoint',
  command: [
    `conntrack -I -p udp -s ${CALLER} -d 10.96.0.53 --sport 4711 --dport 53 -t 600`,
    `--reply-src 10.244.9.9 --reply-dst ${CALLER} --reply-port-src 53 --reply-port-dst 4711`,
  ].join(' '),
  question: UDP,
  summary: /^1 connection of this caller is pinned to 10\.244\.9\.9:53/,
  next: /^conntrack -D -p udp --orig-src 10\.244\.1\.200 --orig-dst 10\.96\.0\.53/,
};

/** A rule of iptables with a comment, at the hook through which packets go to endpoints. */
export function iptablesDrop(program: string, chain: string): Damage {
  return {
    name: `a rule of ${program} drops packets to endpoints`,
    command: `${program} -I ${chain} -d 10.244.0.0/16 -p tcp --dport 8080 -m comment --comment guard -j DROP`,
    summary: new RegExp(`^A rule in ${program} table filter, chain ${chain} drops the packet`),
    next: new RegExp(`^${program} .*-t filter -S ${chain}|^${program} -t filter -S ${chain}`),
  };
}

/** A table of nft. */
export function nftDrop(hook: string): Damage {
  return {
    name: 'a table of nft drops packets to endpoints',
    command: [
      'nft add table inet guard',
      `nft add chain inet guard fw '{ type filter hook ${hook} priority 10; }'`,
      'nft add rule inet guard fw ip daddr 10.244.0.0/16 tcp dport 8080 drop',
    ].join(' && '),
    summary: new RegExp(`^A rule in table inet guard, chain fw \\(${hook}\\) drops the packet`),
    next: /^nft -a list chain inet guard fw$/,
  };
}

/** Each damage is done to a node of its own. No time passes for the mode, so it repairs nothing. */
export function damageSuite(mode: Mode, name: string, damages: readonly Damage[], options: StartOptions = {}): void {
  describe(`explanations of a damaged kernel in ${name} mode`, () => {
    for (const damage of damages) {
      test(`EXPLAIN-22 ${damage.name}`, () =>
        withExplainedCase(caseSettings({}, mode), { ...options, clock: new ManualClock() }, explained =>
          checkDamage(damage, explained),
        ));
    }
  });
}

async function checkDamage({ command, question = TCP, summary, next }: Damage, explained: ExplainedCase) {
  await explained.apply({ set: OBJECTS, removed: [] });
  for (const each of [TCP, UDP]) {
    const healthy = await ask(each, explained);
    assert.equal(healthy.verdict, 'works', textOf(healthy));
  }
  const run: Run = line => runIn(explained.node, 'sh', ['-c', line]);
  run(typeof command === 'string' ? command : command(run));
  const answer = await ask(question, explained);
  assert.equal(answer.verdict, 'broken', textOf(answer));
  assert.match(answer.summary, summary);
  assert.match(answer.next?.command ?? '', next);
}

async function ask(question: string, explained: ExplainedCase): Promise<Explanation> {
  const [to = '', from] = question.split(' from ');
  return await explain(parseQuestion({ to, from }), explained.facts());
}

function textOf({ steps, summary }: Explanation): string {
  return [
    ...steps.flatMap(({ topic, verdict, text, details }) => [`${topic} ${verdict}: ${text}`, ...details]),
    summary,
  ].join('\n');
}
