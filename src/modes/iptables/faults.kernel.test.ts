import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FakePrograms, refusing } from '../../../test/support/fake-programs.ts';
import { IptablesHarness, type IptablesHarnessOptions } from '../../../test/support/iptables-mode.ts';
import { canonicalRules } from '../../../test/support/iptables-rules.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { findLockHolder } from '../../kernel/iptables/lock-holder.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { parseNodePortAddresses } from '../../model/index.ts';
import { setAsideName } from '../set-aside.ts';

const WEB = 'KUBE-SVC-LOLE4ISW44XBNF3G';

async function withFaults(
  scripts: Readonly<Record<string, string>>,
  work: (mode: IptablesHarness, programs: FakePrograms, folder: string) => Promise<void>,
  options: IptablesHarnessOptions & { readonly only?: boolean } = {},
): Promise<void> {
  const namespace = NetworkNamespace.create();
  const programs = new FakePrograms(scripts);
  const folder = mkdtempSync(join(tmpdir(), 'faults-'));
  const { only = false, ...rest } = options;
  const env = programs.env({ only });
  const mode = new IptablesHarness(namespace, { env, lockFile: join(folder, 'lock'), ...rest });
  mode.setService(service('web', { clusterIP: '10.96.0.10' }));
  mode.setEndpointSlice(slice('web-1', ['10.244.1.1']));
  try {
    await work(mode, programs, folder);
  } finally {
    await mode.close();
    programs.close();
    rmSync(folder, { recursive: true });
    namespace.close();
  }
}

const isProgrammed = (mode: IptablesHarness) => canonicalRules(mode.namespace, 'iptables-save').includes(`-j ${WEB}`);

test('IPT-11 without iptables a sync fails, and the error names the missing program', () =>
  withFaults(
    {},
    async mode => {
      await assert.rejects(mode.sync(), /iptables-restore.*: ENOENT: there is no such program/);
      assert.deepEqual(mode.events.setAsides, []);
    },
    { only: true },
  ));

test('IPT-11 the mode sets no Service aside if iptables-restore always fails, and writes all once it works', () =>
  withFaults({ 'iptables-restore': 'echo kaputt >&2; exit 1' }, async (mode, programs) => {
    await assert.rejects(mode.sync(), /iptables-restore.*: exit status 1: kaputt/);
    await assert.rejects(mode.sync(), /kaputt/);
    assert.deepEqual(mode.events.setAsides, []);
    programs.replace('iptables-restore', 'exec /usr/sbin/iptables-restore "$@"');
    assert.deepEqual(await mode.sync(), { full: true });
    assert.ok(isProgrammed(mode));
  }));

test('IPT-11 a failed partial restore makes the next sync a full one', () =>
  withFaults({}, async (mode, programs) => {
    await mode.sync();
    mode.setEndpointSlice(slice('web-1', ['10.244.1.1', '10.244.1.2']));
    programs.replace('iptables-restore', 'echo "iptables-restore: out of memory" >&2; exit 4');
    await assert.rejects(mode.sync(), /exit status 4: iptables-restore: out of memory/);
    assert.deepEqual(
      mode.events.measures
        .filter(({ kind }) => kind === 'refused')
        .map(measure => ('full' in measure ? measure.full : '')),
      [false, true],
    );
    programs.replace('iptables-restore', 'exec /usr/sbin/iptables-restore "$@"');
    assert.deepEqual(await mode.sync(), { full: true });
    assert.ok(canonicalRules(mode.namespace, 'iptables-save').includes('10.244.1.2'));
  }));

test('IPT-11 a repair whose restore fails counts as a failed restore', () =>
  withFaults({}, async (mode, programs) => {
    await mode.sync();
    runIn(mode.namespace, 'iptables', ['-t', 'nat', '-F', WEB]);
    programs.replace('iptables-restore', 'echo "iptables-restore: out of memory" >&2; exit 4');
    await mode.mode.lookForDrift();
    assert.deepEqual(
      mode.events.measures.filter(({ kind }) => kind === 'refused'),
      [{ kind: 'refused', full: true }],
    );
    assert.deepEqual(
      mode.events.failures.map(({ action, needsSync }) => ({ action, needsSync })),
      [{ action: 'repair the IPv4 rules', needsSync: true }],
    );
  }));

test('IPT-11 the mode kills an iptables-restore that hangs, and the error says so', () =>
  withFaults(
    { 'iptables-restore': 'exec sleep 60' },
    async mode => {
      await assert.rejects(mode.sync(), /iptables-restore.*: not done after 0\.4 s, killed/);
      assert.deepEqual(mode.events.setAsides, []);
    },
    { timeoutMs: 400 },
  ));

async function holdLock(file: string) {
  const child = spawn('flock', ['--no-fork', file, 'sleep', '20'], { stdio: 'ignore' });
  await once(child, 'spawn');
  while (findLockHolder(file)?.command !== 'sleep') await delay(2);
  return async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
}

test('IPT-11 the error of a sync names the holder of the xtables lock, and how long the program waited', () =>
  withFaults(
    {},
    async (mode, _programs, folder) => {
      const release = await holdLock(join(folder, 'lock'));
      await assert.rejects(mode.sync(), /waited [\d.]+ s for the xtables lock, held by sleep \(pid \d+\)/);
      assert.deepEqual(mode.events.setAsides, []);
      await release();
      assert.deepEqual(await mode.sync(), { full: true });
    },
    { backend: 'legacy', waitSeconds: 1 },
  ));

test('IPT-11 the operator gets a notice if a program waited long for the xtables lock', () =>
  withFaults(
    {},
    async (mode, _programs, folder) => {
      const release = await holdLock(join(folder, 'lock'));
      setTimeout(() => void release(), 2000);
      await mode.sync();
      assert.match(mode.events.lines.join('\n'), /notice: .*waited [\d.]+ s for the xtables lock, held by sleep/);
    },
    { backend: 'legacy' },
  ));

test('IPT-7 the mode writes its rules without nfacct counters if the kernel refuses them', () =>
  withFaults({ 'iptables-restore': refusing('nfacct', 'no nfacct here') }, async mode => {
    await mode.sync();
    assert.ok(isProgrammed(mode));
    const rules = canonicalRules(mode.namespace, 'iptables-save');
    assert.ok(rules.includes('--ctstate INVALID -j DROP'));
    assert.ok(!rules.includes('nfacct'));
    assert.match(mode.events.lines.join('\n'), /notice: The kernel refuses rules with nfacct counters.*no nfacct here/);
  }));

for (const words of ['10.96.0.12 --dport', 'default/bad -s', 'default/bad -> ']) {
  test(`IPT-10 the mode finds a Service by halving if iptables-restore refuses "${words}" without a line number`, () =>
    withFaults({ 'iptables-restore': refusing(words, 'invalid argument') }, async mode => {
      for (const [i, name] of ['a', 'bad', 'c', 'd'].entries()) {
        mode.setService(service(name, { clusterIP: `10.96.0.${i + 11}` }));
        mode.setEndpointSlice(slice(`${name}-1`, [`10.244.1.${i + 11}`]));
      }
      await mode.sync();
      assert.deepEqual(mode.events.setAsides.map(setAsideName), ['default/bad']);
      const rules = canonicalRules(mode.namespace, 'iptables-save');
      for (const ip of ['10.96.0.10', '10.96.0.11', '10.96.0.13', '10.96.0.14'])
        assert.ok(rules.includes(`${ip}/32`), ip);
      assert.ok(!rules.includes('10.96.0.12/32'));
      assert.ok(!rules.includes('TRIAL') && !rules.includes('PROBE'));
      // The mode retries it only after it changes.
      mode.setEndpointSlice(slice('c-1', ['10.244.1.99']));
      assert.deepEqual(await mode.sync(), { full: false });
      assert.equal(mode.events.setAsides.length, 1);
      assert.equal(mode.setAside().length, 1);
    }));
}

test('IPT-10 a line that is refused because memory is missing sets no Service aside, and the next sync writes it', () =>
  withFaults(
    { 'iptables-restore': refusing('10.96.0.10 --dport', 'line 9: RULE_APPEND failed (Cannot allocate memory)') },
    async (mode, programs) => {
      await assert.rejects(mode.sync(), /Cannot allocate memory/);
      assert.deepEqual(mode.events.setAsides, []);
      programs.replace('iptables-restore', 'exec /usr/sbin/iptables-restore "$@"');
      await mode.sync();
      assert.ok(isProgrammed(mode));
    },
  ));

test('IPT-10 each trial of a search is small enough for one restore', () => {
  const countChains = 'cat > "$0.copy"; grep -c ^: "$0.copy" >> "$0.sizes"; exec < "$0.copy"';
  const refuse = refusing('10.96.0.12 --dport', 'invalid argument');
  return withFaults({ 'iptables-restore': `${countChains}\n${refuse}` }, async (mode, { folder }) => {
    for (let i = 0; i < 100; i++) {
      mode.setService(service(`s${i}`, { clusterIP: `10.96.0.${i + 11}` }));
      mode.setEndpointSlice(
        slice(
          `s${i}-1`,
          Array.from({ length: 20 }, (_, j) => `10.244.${i}.${j + 1}`),
        ),
      );
    }
    await mode.sync();
    assert.deepEqual(mode.events.setAsides.map(setAsideName), ['default/s1']);
    const sizes = readFileSync(join(folder, 'iptables-restore.sizes'), 'utf8').trim().split('\n').map(Number);
    assert.ok(Math.max(...sizes) < 1600, `${Math.max(...sizes)} chains in one restore`);
  });
});

test('IPT-10 no chains of a Service stay if iptables-restore refuses it in a later part', () =>
  withFaults({ 'iptables-restore': refusing('-d 1.2.3.4 --dport', 'invalid argument') }, async mode => {
    mode.setService(service('bad', { clusterIP: '10.96.0.12', externalIPs: ['1.2.3.4'] }));
    mode.setEndpointSlice(slice('bad-1', ['10.244.1.9']));
    const ips = (i: number) => Array.from({ length: 200 }, (_, j) => `10.245.${i}.${j + 1}`);
    for (let i = 0; i < 8; i++) {
      mode.setService(service(`s${i}`, { clusterIP: `10.96.1.${i}` }));
      mode.setEndpointSlice(slice(`s${i}-1`, ips(i)));
    }
    await mode.sync();
    assert.deepEqual(mode.events.setAsides.map(setAsideName), ['default/bad']);
    const chains = runIn(mode.namespace, 'iptables-save', ['-t', 'nat']).match(/^:KUBE-(SVC|EXT|SEP)-/gm) ?? [];
    assert.equal(chains.length, 2 + 8 * 201);
  }));

test('IPT-10 the next full sync removes the trial chains of a search that was killed', () =>
  withFaults({}, async mode => {
    const trial = ':KUBE-PROXY-TRIAL - [0:0]';
    const used = ':KUBE-SEP-OLD - [0:0]\n-A KUBE-PROXY-TRIAL -j KUBE-SEP-OLD';
    const left = `*nat\n${trial}\n${used}\nCOMMIT\n*filter\n${trial}\nCOMMIT\n`;
    runIn(mode.namespace, 'iptables-restore', ['--noflush'], left);
    await mode.sync();
    const rules = runIn(mode.namespace, 'iptables-save', []);
    assert.ok(!rules.includes('TRIAL') && !rules.includes('KUBE-SEP-OLD'), rules);
    assert.deepEqual(
      mode.events.lines.filter(line => line.startsWith('failed')),
      [],
    );
  }));

test('IPT-11 if a sync fails before it writes, the next sync writes its plans', () =>
  withFaults({}, async mode => {
    const broken = {
      ...parseNodePortAddresses('IPv4', []),
      get containsIPv4Loopback(): boolean {
        throw new Error('no addresses');
      },
    };
    await assert.rejects(mode.sync({ nodePortAddresses: broken }), /no addresses/);
    await mode.sync();
    assert.ok(isProgrammed(mode));
  }));
