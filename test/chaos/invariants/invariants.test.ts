import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS } from '../faults/index.ts';
import { Impairments } from '../world/impairments.ts';
import { impairmentsOf, MODES, maxDescriptors } from '../world/modes.ts';
import { judgeHeldConnection } from './established.ts';
import { withoutFirewall } from './firewall.ts';
import { judgeEndState, judgePlan } from './fresh-start.ts';
import { judgeHealth } from './health.ts';
import { judgeCleanup, judgeLeftovers } from './leftovers.ts';
import { judgeEnd } from './process.ts';
import { wrongLooks } from './recovery.ts';
import { judgeUsage, MAX_RESIDENT_MB } from './resources.ts';
import { sortedByChain } from './saved-chains.ts';

test('CHAOS-6 an established connection that is lost violates an invariant', () => {
  const impairments = new Impairments();
  impairments.begin(['knowledge', 'rules'], 0);
  assert.equal(judgeHeldConnection('node', 'ready', impairments, 2000), undefined);
  const lost = 'lost 10.96.0.1:80 1500 read ECONNRESET';
  assert.deepEqual(judgeHeldConnection('node', lost, impairments, 2000), {
    invariant: 'established connections live',
    facts: `node: ${lost}`,
  });
});

test('CHAOS-15 only in userspace mode, and only if the process stops, established connections may end', () => {
  const stopping = FAULTS.filter(({ stopsProxy }) => stopsProxy);
  assert.deepEqual(
    stopping.map(({ name }) => name),
    ['kill', 'restart', 'mode-switch', 'second-proxy', 'lost-notifications', 'limits'],
  );
  for (const fault of FAULTS) {
    for (const mode of MODES) {
      const mayEnd = mode === 'userspace' && stopping.includes(fault);
      assert.deepEqual(impairmentsOf(fault, mode).includes('connections'), mayEnd, `${fault.name} in ${mode}`);
      if (!mayEnd) assert.deepEqual(impairmentsOf(fault, mode), fault.impairs);
    }
  }
  const impairments = new Impairments();
  impairments.begin(['connections'], 1000);
  impairments.endAll(2000);
  const lostAt = (heardAt: number) =>
    judgeHeldConnection('node', `lost x ${heardAt} silent`, impairments, heardAt + 100);
  assert.equal(lostAt(950), undefined);
  assert.ok(lostAt(2001));
});

test('CHAOS-7 the proxy has recovered when every address gets what the API server has', () => {
  const attempt = (answer: string | undefined) => ({
    client: 'look',
    address: 'x',
    begin: 0,
    end: 0,
    answer,
    failure: 'refused',
  });
  const look = (expected: readonly string[], ...answers: readonly (string | undefined)[]) => ({
    address: 'x',
    expected: new Set(expected),
    attempts: answers.map(attempt),
  });
  assert.deepEqual(wrongLooks([look(['a', 'b'], 'a', 'b', 'a'), look([], undefined)]), []);
  assert.deepEqual(wrongLooks([look(['a'], 'a', 'c')]), ['x: c instead of {a}']);
  assert.deepEqual(wrongLooks([look(['a'], undefined)]), ['x: refused instead of {a}']);
  assert.deepEqual(wrongLooks([look([], 'a')]), ['x: a instead of {}']);
});

test('CHAOS-8 other rules than after a fresh start violate an invariant, and the lines are named', () => {
  assert.equal(judgeEndState('a\nb', 'a\nb'), undefined);
  const { facts = '' } = judgeEndState('a\nold\nb', 'a\nb\nnew') ?? {};
  assert.match(facts, /1 lines more:\n +old\n +1 lines missing:\n +new\n/);
  assert.match(facts, /the first difference: old\n +a fresh start has: b/);
});

const sorted = (saved: string) => sortedByChain('iptables-save', saved);

test('CHAOS-8 the order of chains does not count, the order of rules in a chain does', () => {
  const one = sorted('*nat\n:B - [0:0]\n:A - [0:0]\n-A B -j A\n-A A -j ONE\n-A A -j TWO\nCOMMIT');
  const same = sorted('*nat\n:A - [0:0]\n:B - [0:0]\n-A A -j ONE\n-A A -j TWO\n-A B -j A\nCOMMIT');
  const other = sorted('*nat\n:A - [0:0]\n:B - [0:0]\n-A A -j TWO\n-A A -j ONE\n-A B -j A\nCOMMIT');
  assert.equal(one, same);
  assert.notEqual(one, other);
});

test('CHAOS-8 the order of service ports in a chain that leads to them does not count', () => {
  const web = '-A KUBE-NODEPORTS -m comment --comment "default/web:http" -j WEB';
  const api = '-A KUBE-NODEPORTS -m comment --comment "default/api:http" -j API';
  const last = '-A KUBE-NODEPORTS -j LAST';
  const of = (...rules: readonly string[]) => sorted(['*nat', ':KUBE-NODEPORTS - [0:0]', ...rules].join('\n'));
  assert.equal(of(web, api, last), of(api, web, last));
  assert.notEqual(of(`${web} 1`, `${web} 2`), of(`${web} 2`, `${web} 1`));
  assert.notEqual(of(web, api, last), of(last, web, api), 'the last rule stands first');
  assert.notEqual(of(web, web, api), of(web, api, web), 'the rules of a service port are apart');
  const forward = (rule: string) => rule.replace('KUBE-NODEPORTS', 'KUBE-FORWARD');
  assert.notEqual(sorted(`*nat\n${forward(web)}\n${forward(api)}`), sorted(`*nat\n${forward(api)}\n${forward(web)}`));
});

test('CHAOS-8 a proxy port of userspace mode may have another number, and nothing else', () => {
  const rule = (chain: string, port: number) =>
    sorted(
      `*nat\n-A ${chain} -m comment --comment "default/web:http" -p tcp --dport 80 -j REDIRECT --to-ports ${port}`,
    );
  assert.equal(rule('KUBE-PORTALS-CONTAINER', 40001), rule('KUBE-PORTALS-CONTAINER', 34567));
  assert.notEqual(rule('KUBE-PORTALS-CONTAINER', 40001), rule('KUBE-PORTALS-CONTAINER', 8080));
  assert.notEqual(rule('KUBE-FORWARD', 40001), rule('KUBE-FORWARD', 34567));
});

test('CHAOS-8 only the whole KUBE-FIREWALL may stay, with its one rule and its jumps', () => {
  const drop =
    '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" ' +
    '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';
  const jumps = '-A INPUT -j KUBE-FIREWALL\n-A OUTPUT -j KUBE-FIREWALL';
  const whole = sorted(`*filter\n:KUBE-FIREWALL - [0:0]\n${jumps}\n${drop}`);
  assert.equal(withoutFirewall(`a\n${whole}\nb`), 'a\nb');
  const part = sorted(`*filter\n:KUBE-FIREWALL - [0:0]\n${jumps}`);
  assert.equal(withoutFirewall(part), part);
  assert.match(withoutFirewall(sorted(`*filter\n:KUBE-FIREWALL - [0:0]\n${jumps}\n${drop}\n${drop} 2`)), /DROP 2$/);
});

test('CHAOS-8 the kernel has what plan --diff wants', () => {
  assert.equal(judgePlan('no difference\n', ''), undefined);
  assert.match(judgePlan('+ slot\n', '')?.facts ?? '', /slot/);
  assert.match(judgePlan('', 'no right\n')?.facts ?? '', /no right/);
});

test('CHAOS-12 a rule or a pin that is left after cleanup violates an invariant', () => {
  assert.deepEqual(judgeCleanup('table ip network-plugin'), []);
  for (const left of ['iptables-save nat KUBE-SERVICES', 'table ip kube-proxy {', '/sys/fs/bpf/pointsman/cgroup-7']) {
    assert.equal(judgeCleanup(`a\n${left}`).length, 1);
  }
});

test('CHAOS-9 memory and descriptors have bounds', () => {
  assert.deepEqual(judgeUsage({ residentMB: MAX_RESIDENT_MB, descriptors: 100 }, maxDescriptors('ebpf')), []);
  const violated = judgeUsage({ residentMB: MAX_RESIDENT_MB + 1, descriptors: 101 }, maxDescriptors('nftables'));
  assert.deepEqual(
    violated.map(({ invariant }) => invariant),
    ['memory is bounded', 'descriptors are bounded'],
  );
});

const WATCHES = '[+]watch /api/v1/services ok: last message 3 s ago\nok';
const NOTHING_KNOWN = { isRunning: false, isRecovered: false, isMisconfigured: false, isCutOff: false };

test('CHAOS-10 a proxy that runs is alive, and one that has recovered is healthy and ready', () => {
  const good = { livez: 200, healthz: 200, readyz: 200, text: WATCHES };
  const bad = { livez: undefined, healthz: 503, readyz: 503, text: 'not ready' };
  const known = { ...NOTHING_KNOWN, isRunning: true, isRecovered: true };
  assert.deepEqual(judgeHealth(good, known), []);
  assert.equal(judgeHealth(bad, known).length, 4);
  assert.deepEqual(judgeHealth(bad, NOTHING_KNOWN), []);
});

test('CHAOS-10 a proxy with an invalid configuration file is not ready', () => {
  const known = { ...NOTHING_KNOWN, isRunning: true, isMisconfigured: true };
  assert.deepEqual(judgeHealth({ livez: 200, healthz: 200, readyz: 503, text: WATCHES }, known), []);
  assert.equal(judgeHealth({ livez: 200, healthz: 200, readyz: 200, text: WATCHES }, known).length, 1);
});

test('CHAOS-10 without an API server the proxy is ready and names the problem', () => {
  const known = { ...NOTHING_KNOWN, isRunning: true, isCutOff: true };
  const text = '[+]watch /api/v1/services ok: last message 3 s ago: the API server refused the connection\nok';
  assert.deepEqual(judgeHealth({ livez: 200, healthz: 200, readyz: 200, text }, known), []);
  assert.equal(judgeHealth({ livez: 200, healthz: 200, readyz: 200, text: WATCHES }, known).length, 1);
});

test('CHAOS-11 the proxy may end only because of a fault', () => {
  assert.equal(judgeEnd({ status: 1, signal: null }, true), undefined);
  assert.equal(judgeEnd({ status: 1, signal: null }, false)?.facts, 'it ended with status 1');
  assert.equal(judgeEnd({ status: null, signal: 'SIGABRT' }, false)?.facts, 'it ended with SIGABRT');
});

test('CHAOS-12 a process, a namespace, a folder or a rule that is left violates an invariant', () => {
  const before = { network: 'n', children: '', namespaces: 1 };
  assert.deepEqual(judgeLeftovers(before, before, ['/no/such/folder']), []);
  assert.equal(judgeLeftovers(before, { network: 'm', children: '7', namespaces: 2 }, ['/']).length, 4);
});
