import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakePrograms } from '../../../../test/support/fake-programs.ts';
import { runIn } from '../../../../test/support/run-in.ts';
import { IpsetSocket } from '../../../kernel/ipset/index.ts';
import { Iptables } from '../../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import type { Ip } from '../../../net/index.ts';
import type { Drop } from '../render.ts';
import { RuleWriter } from './rule-table.ts';
import type { RuleInput } from './rule-text.ts';
import { ipSet, SET_KEYS } from '../names.ts';
import { Written } from '../kernel-state/write-report.ts';

/** Does all tables up to the one that the kernel refuses for its match, as the real program does. */
const WITHOUT_XT_IPVS = `
cat > "$0.input"
grep -q -e '-m ipvs' "$0.input" || exec /usr/sbin/iptables-restore "$@" < "$0.input"
sed '/^\\*filter/,$d' "$0.input" | /usr/sbin/iptables-restore "$@"
echo 'no ipvs match here' >&2
exit 1`;

const DROP: Drop = { ip: '203.0.113.1' as Ip, protocol: 'TCP', port: 443 };

function input(drops: readonly Drop[], masqueradeAll = false): RuleInput {
  const used = new Set(SET_KEYS);
  return {
    family: 'IPv4',
    masqueradeAll,
    masqueradeMark: 0x4000,
    localDetector: undefined,
    randomFully: true,
    used,
    drops,
  };
}

interface Case {
  readonly programs: FakePrograms;
  readonly noticed: string[];
  write(rules: RuleInput): ReturnType<RuleWriter['write']>;
  rules(): string;
}

async function withRestore(script: string, work: (it: Case) => Promise<void>): Promise<void> {
  const namespace = NetworkNamespace.create();
  const programs = new FakePrograms({ 'iptables-restore': script });
  const socket = IpsetSocket.open({ namespace });
  try {
    await socket.restore(SET_KEYS.map(key => ({ kind: 'create', set: ipSet(key, 'IPv4') }) as const));
    const noticed: string[] = [];
    const iptables = await Iptables.open('ip', { namespace, env: programs.env() });
    const writer = new RuleWriter(
      iptables,
      () => {},
      what => noticed.push(what),
    );
    await writer.read();
    await work({
      programs,
      noticed,
      write: rules => writer.write(rules, new Written()),
      rules: () => runIn(namespace, 'iptables-save'),
    });
  } finally {
    socket.close();
    programs.close();
    namespace.close();
  }
}

test('IPVS-17 a kernel without xt_ipvs gets all rules but those that need it, and that is told once', () =>
  withRestore(WITHOUT_XT_IPVS, async ({ noticed, write, rules }) => {
    assert.deepEqual((await write(input([DROP])))?.drops, []);
    assert.match(rules(), /-A KUBE-IPVS-FILTER .*REJECT/);
    assert.doesNotMatch(rules(), /-A KUBE-IPVS-OUT-FILTER/);
    assert.equal(rules().match(/-A PREROUTING .* -j KUBE-SERVICES/g)?.length, 1);
    assert.equal(noticed.length, 1);
    assert.match(noticed[0] ?? '', /^the kernel does not take rules that match what ipvs forwards.*no ipvs match here/);
    assert.ok(await write(input([DROP], true)));
    assert.equal(noticed.length, 1);
  }));

test('IPVS-17 rules that fail without the drops too fail, and nothing is told of drops', () =>
  withRestore('echo kaputt >&2; exit 1', async ({ programs, noticed, write, rules }) => {
    await assert.rejects(write(input([DROP])), /kaputt/);
    assert.deepEqual(noticed, []);
    programs.replace('iptables-restore', 'exec /usr/sbin/iptables-restore "$@"');
    assert.ok(await write(input([])));
    assert.match(rules(), /-A KUBE-IPVS-FILTER .*REJECT/);
  }));
