import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakePrograms } from '../../../../test/support/fake-programs.ts';
import { runIn } from '../../../../test/support/run-in.ts';
import { IpsetSocket } from '../../../kernel/ipset/index.ts';
import { Iptables } from '../../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import type { Ip } from '../../../net/index.ts';
import { WriteSummary } from '../kernel-state/write-report.ts';
import { ipSet, SET_KEYS } from '../names.ts';
import type { Drop } from '../render.ts';
import { RuleTable } from './rule-table.ts';
import type { RuleInput } from './rule-text.ts';

/** Commits the tables before the one that the kernel refuses, as the real program does. */
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
  readonly notices: string[];
  write(rules: RuleInput): ReturnType<RuleTable['write']>;
  rules(): string;
}

async function withRestore(script: string, work: (it: Case) => Promise<void>): Promise<void> {
  const namespace = NetworkNamespace.create();
  const programs = new FakePrograms({ 'iptables-restore': script });
  const socket = IpsetSocket.open({ namespace });
  try {
    await socket.restore(SET_KEYS.map(key => ({ kind: 'create', set: ipSet(key, 'IPv4') }) as const));
    const notices: string[] = [];
    const iptables = await Iptables.open('ip', { namespace, env: programs.env() });
    const table = new RuleTable(
      iptables,
      () => {},
      message => notices.push(message),
    );
    await table.read();
    await work({
      programs,
      notices,
      write: rules => table.write(rules, new WriteSummary()),
      rules: () => runIn(namespace, 'iptables-save'),
    });
  } finally {
    socket.close();
    programs.close();
    namespace.close();
  }
}

test('IPVS-17 a kernel without xt_ipvs gets all rules that do not need it, and that is reported once', () =>
  withRestore(WITHOUT_XT_IPVS, async ({ notices, write, rules }) => {
    assert.deepEqual((await write(input([DROP])))?.drops, []);
    assert.match(rules(), /-A KUBE-IPVS-FILTER .*REJECT/);
    assert.doesNotMatch(rules(), /-A KUBE-IPVS-OUT-FILTER/);
    assert.equal(rules().match(/-A PREROUTING .* -j KUBE-SERVICES/g)?.length, 1);
    assert.equal(notices.length, 1);
    assert.match(notices[0] ?? '', /^The kernel refuses rules that match packets of ipvs.*no ipvs match here/);
    assert.ok(await write(input([DROP], true)));
    assert.equal(notices.length, 1);
  }));

test('IPVS-17 rules that the kernel refuses even without the drops fail, and drops are not reported', () =>
  withRestore('echo kaputt >&2; exit 1', async ({ programs, notices, write, rules }) => {
    await assert.rejects(write(input([DROP])), /kaputt/);
    assert.deepEqual(notices, []);
    programs.replace('iptables-restore', 'exec /usr/sbin/iptables-restore "$@"');
    assert.ok(await write(input([])));
    assert.match(rules(), /-A KUBE-IPVS-FILTER .*REJECT/);
  }));
