import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { probe } from '../../src/demo/playground/index.ts';
import { TraceMonitor } from '../../src/kernel/nftables/index.ts';
import { hostCidr, type Ip } from '../../src/net/index.ts';
import { resultOf, summaryOf, type TracedPacket } from '../../src/trace/index.ts';
import { Program } from '../control-plane/program.ts';
import { KUBE_PROXY, SYNCED } from '../support/kube-proxy.ts';
import { createNodeNamespace } from '../support/namespaces.ts';
import { runIn, runNftScript } from '../support/run-in.ts';
import { waitFor } from '../support/wait-for.ts';
import { CLIENT_POD, packetsTo, SERVICE_IP, TraceProgram, tracedDuring, withTracedCluster } from './traced-cluster.ts';

const SELECTION = packetsTo(`${SERVICE_IP}/32`);
const isSyn = ({ tcpFlags }: TracedPacket) => tcpFlags === 'SYN';

function rulesOf(packet: TracedPacket | undefined) {
  return packet?.steps.flatMap(step => (step.kind === 'chain' ? step.rules : [])) ?? [];
}

describe('trace', { concurrency: 3 }, () => {
  test('TRACE-5 rules of nftables mode are named with the elements that matched, and with the Service', () =>
    withTracedCluster('nftables', async ({ cluster, connect }) => {
      const ext = cluster.host('ext');
      const [packet] = await tracedDuring(cluster.node, SELECTION, () => connect(ext));
      const rule = rulesOf(packet).find(({ services }) => services.length > 0);
      assert.deepEqual(rule?.services, ['default/web']);
      assert.equal(rule?.chain, 'services');
      assert.equal(rule?.verdict, 'goto pick-cluster-3');
      assert.deepEqual(rule?.elements, [
        '@service-numbers 10.96.0.10 . tcp . 80 comment "default/web" : 0x10003000',
        '@targets 0x10003000 : goto pick-cluster-3',
      ]);
      const hooks = packet?.steps.map(step => (step.kind === 'chain' ? `${step.hook} ${step.chain}` : 'rewrite'));
      assert.deepEqual(hooks, [
        'prerouting filter-prerouting-pre-dnat',
        'prerouting nat-prerouting',
        'rewrite',
        'forward filter-forward',
        'postrouting nat-postrouting',
        'rewrite',
      ]);
      const masquerade = rulesOf(packet).find(({ text }) => text.includes('masquerade fully-random'));
      assert.equal(masquerade?.verdict, 'accept');
      assert.match(
        packet ? summaryOf(packet) : '',
        /^192\.168\.0\.100:\d+ → 10\.96\.0\.10:80 tcp SYN: default\/web, DNAT to 10\.244\.\d\.\d:8080, source replaced by [\d.]+:\d+, accepted, left through (eth0|cni0)$/,
      );
    }));

  test('TRACE-6 a rule of another program that drops is named, with its table and chain', () =>
    withTracedCluster('nftables', async ({ cluster, connect }) => {
      runNftScript(
        cluster.node,
        `table inet firewalld {
          chain filter_FORWARD {
            type filter hook forward priority 10; policy accept;
            ip saddr 192.168.0.0/24 tcp dport { 8080, 9090 } counter drop comment "no callers from the office"
          }
        }`,
      );
      const ext = cluster.host('ext');
      const [packet] = await tracedDuring(cluster.node, SELECTION, () => connect(ext));
      assert.match(
        packet ? resultOf(packet) : '',
        /^default\/web, DNAT to \S+, dropped by table inet firewalld, chain filter_FORWARD, rule 1: ip saddr 192\.168\.0\.0\/24 tcp dport \{ 8080, 9090 \} counter packets \d+ bytes \d+ drop comment "no callers from the office"$/,
      );
    }));

  test('TRACE-6 a policy that drops is named, and so is a rule that rejects', () =>
    withTracedCluster('nftables', async ({ cluster, pod, connect }) => {
      runNftScript(
        cluster.node,
        `table inet guard {
          chain forward { type filter hook forward priority 10; policy drop; ip saddr ${CLIENT_POD} reject; }
        }`.replace('reject; }', 'reject\n}'),
      );
      const [dropped] = await tracedDuring(cluster.node, SELECTION, () => connect(cluster.host('ext')));
      assert.match(dropped ? resultOf(dropped) : '', /, dropped by table inet guard, chain forward, policy drop$/);
      const [rejected] = await tracedDuring(cluster.node, SELECTION, () => connect(pod));
      assert.match(
        rejected ? resultOf(rejected) : '',
        /, rejected by table inet guard, chain forward, rule 1: ip saddr 10\.244\.1\.200 reject\b/,
      );
    }));

  test('TRACE-5 TRACE-6 rules of iptables-nft are named as iptables prints them, those of others, too', () =>
    withTracedCluster('iptables', async ({ cluster, pod, connect }) => {
      const [answered] = await tracedDuring(cluster.node, SELECTION, () => connect(pod));
      assert.deepEqual(answered?.services, ['default/web']);
      const jump = rulesOf(answered).find(({ chain }) => chain === 'KUBE-SERVICES');
      assert.match(
        jump?.text ?? '',
        /^-d 10\.96\.0\.10\/32 -p tcp -m comment --comment "default\/web cluster IP" .* -j KUBE-SVC-/,
      );
      runIn(cluster.node, 'iptables', [
        '-I',
        'FORWARD',
        '2',
        '-s',
        CLIENT_POD,
        '-m',
        'comment',
        '--comment',
        'policy 7',
        '-j',
        'DROP',
      ]);
      const [dropped] = await tracedDuring(cluster.node, SELECTION, () => connect(pod));
      assert.match(
        dropped ? resultOf(dropped) : '',
        /^default\/web, DNAT to \S+, dropped by table ip filter, chain FORWARD, rule 2: -s 10\.244\.1\.200\/32 -m comment --comment "policy 7" -j DROP$/,
      );
    }));

  test('TRACE-6 TRACE-4 a packet that the node sends to itself is followed over the loopback interface', () =>
    withTracedCluster('userspace', async ({ cluster, connect }) => {
      const selection = packetsTo(`${SERVICE_IP}/32`, 'node');
      const [packet] = await tracedDuring(cluster.node, selection, () => connect(cluster.node));
      assert.match(
        packet ? resultOf(packet) : '',
        /^default\/web, DNAT to 192\.168\.0\.2:\d+, accepted, given to this machine itself$/,
      );
      assert.equal(packet?.inInterface, undefined);
    }));

  test('TRACE-6 a packet that no rule dropped, and that does not go on, is lost', () =>
    withTracedCluster('nftables', async ({ cluster, connect }) => {
      runIn(cluster.node, 'ip', ['route', 'add', 'blackhole', '10.244.0.0/16', 'metric', '1']);
      runIn(cluster.node, 'ip', ['route', 'del', '10.244.2.0/24']);
      runIn(cluster.node, 'ip', ['route', 'del', '10.244.3.0/24']);
      runIn(cluster.node, 'ip', ['route', 'del', '10.244.1.0/24']);
      const [packet] = await tracedDuring(cluster.node, SELECTION, () => connect(cluster.host('ext')));
      assert.match(
        packet ? resultOf(packet) : '',
        /^default\/web, DNAT to \S+, lost after prerouting: no rule of nf_tables dropped it$/,
      );
    }));

  test('TRACE-7 further packets of a connection skip the nat chains, and their flow is shown', () =>
    withTracedCluster('nftables', async ({ cluster, pod, connect }) => {
      const packets = await tracedDuring(
        cluster.node,
        SELECTION,
        () => connect(pod),
        seen => seen.length >= 2,
      );
      const [first, second] = packets;
      assert.equal(first?.skipsNat, false);
      assert.equal(second?.skipsNat, true);
      assert.equal(second?.last.destination, first?.last.destination);
      assert.match(second ? resultOf(second) : '', /^connection tracked already, so no nat chain was asked, DNAT to /);
      assert.match(first?.flow ?? '', /src=10\.244\.1\.200 dst=10\.96\.0\.10 sport=\d+ dport=80 src=10\.244\.\d\.\d /);
    }));

  test('TRACE-2 only selected packets are traced', () =>
    withTracedCluster('nftables', async ({ cluster, pod, connect }) => {
      const seen = new Set<string>();
      const monitor = TraceMonitor.open(
        {
          traced: ({ packet }) => packet && seen.add(packet.network.subarray(12, 20).join()),
          overrun() {},
          failed() {},
        },
        { namespace: cluster.node },
      );
      try {
        const selection = packetsTo(`${SERVICE_IP}/32`, hostCidr(CLIENT_POD));
        const packets = await tracedDuring(
          cluster.node,
          selection,
          async () => {
            await connect(cluster.host('ext'));
            await connect(cluster.node);
            await connect(pod, SERVICE_IP, 81);
            await connect(pod, '192.168.0.2' as Ip, 80);
            await connect(pod);
          },
          found => found.some(isSyn),
        );
        for (const { first } of packets)
          assert.match(`${first.source} ${first.destination}`, /^10\.244\.1\.200:\d+ 10\.96\.0\.10:80$/);
      } finally {
        monitor.close();
      }
      for (const ends of seen) assert.match(ends, /^10,244,1,200,/);
      assert.ok(seen.size > 0);
    }));

  test('TRACE-4 other packets that another program traces are ignored', () =>
    withTracedCluster('nftables', async ({ cluster, pod, connect }) => {
      runNftScript(
        cluster.node,
        `table ip other {
          chain p { type filter hook prerouting priority -500; meta nftrace set 1; }
        }`.replace('set 1; }', 'set 1\n}'),
      );
      const selection = packetsTo(`${SERVICE_IP}/32`, hostCidr(CLIENT_POD));
      const packets = await tracedDuring(
        cluster.node,
        selection,
        async () => {
          await connect(cluster.host('ext'));
          await connect(pod);
        },
        found => found.some(isSyn),
      );
      for (const { first } of packets) assert.match(first.source, /^10\.244\.1\.200:/);
    }));

  test('TRACE-3 kill -9 leaves no table behind, and packets are not traced any more', () =>
    withTracedCluster('nftables', async ({ cluster, pod, connect, startProgram }) => {
      const tables = () => runIn(cluster.node, 'nft', ['list', 'tables']);
      const before = tables();
      const program = startProgram('--to', '10.96.0.10:80', '--for', '0', '--packets', '1000');
      await program.untilPrinted('Start the connection now');
      assert.match(tables(), /table inet pointsman-trace-\d+-[0-9a-f]{8}\n/);
      await connect(pod);
      await program.untilPrinted('DNAT to');
      assert.equal(await program.end('SIGKILL'), null);
      await waitFor('the kernel deletes the table', () => tables() === before);
      let traced = 0;
      const monitor = TraceMonitor.open(
        { traced: () => traced++, overrun() {}, failed() {} },
        { namespace: cluster.node },
      );
      await connect(pod);
      await delay(50);
      monitor.close();
      assert.equal(traced, 0);
    }));

  test('TRACE-9 TRACE-10 the program ends after its packets, and prints the way of each', () =>
    withTracedCluster('nftables', async ({ cluster, pod, connect, startProgram }) => {
      const objects = 'test/cases/clusterip-basic/objects.yaml';
      const text = startProgram(
        '--from',
        CLIENT_POD,
        '--to',
        'web:80',
        '--manifests',
        objects,
        '--packets',
        '1',
        '--for',
        '60s',
      );
      const json = startProgram('--to', '10.96.0.10:80', '--packets', '1', '--for', '60s', '-o', 'json');
      await text.untilPrinted('Start the connection now');
      await waitFor('the other program marks packets', () =>
        /trace-\d+-\w+\n.*trace-\d+-\w+\n/.test(runIn(cluster.node, 'nft', ['list', 'tables', 'inet'])),
      );
      await connect(pod);
      assert.equal(await text.end(), 0, text.errors);
      assert.equal(await json.end(), 0, json.errors);
      assert.match(
        text.output,
        /^Following packets from 10\.244\.1\.200 to 10\.96\.0\.10:80\/tcp for 60 s, at most 1\. /,
      );
      assert.match(
        text.output,
        /\n {2}prerouting {2}-100 {2}table ip kube-proxy, chain nat-prerouting\n {6}1: jump services\n {6}services 3: .* → goto pick-cluster-3 {2}\[default\/web\]\n/,
      );
      assert.match(
        text.output,
        /\n {2}= default\/web, DNAT to 10\.244\.\d\.\d:8080, accepted, left through \w+\n\n1 packet followed\.\n$/,
      );
      const [packet, end] = json.output
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line));
      assert.equal(packet.schema, 'pointsman.trace/v1');
      assert.equal(packet.kind, 'packet');
      assert.deepEqual(packet.services, ['default/web']);
      assert.equal(packet.outcome.kind, 'left');
      assert.deepEqual(end, { schema: 'pointsman.trace/v1', kind: 'end', packets: 1, overruns: 0 });
    }));

  test('TRACE-9 without packets the exit status is 1, with hints; Ctrl-C ends the trace', () =>
    withTracedCluster('nftables', async ({ startProgram }) => {
      const program = startProgram('--to', '10.96.0.99:80', '--for', '100ms');
      const endless = startProgram('--from', 'node', '--to', '10.96.0.99', '--for', '0');
      assert.equal(await program.end(), 1, program.errors);
      assert.match(
        program.output,
        /\nNo packet from anywhere to 10\.96\.0\.99:80\/tcp was seen\.\n- Was there traffic\?/,
      );
      await endless.untilPrinted('until Ctrl-C');
      assert.equal(await endless.end('SIGINT'), 1);
    }));

  test('TRACE-9 --for may be longer than a timer of Node can be', () =>
    withTracedCluster('nftables', async ({ startProgram }) => {
      const program = startProgram('--to', '10.96.0.99:80', '--for', '1000h');
      await program.untilPrinted('for 3600000 s');
      assert.equal(await program.end('SIGINT'), 1);
      assert.equal(program.errors, '');
    }));

  test('TRACE-11 with rules of iptables-legacy, the program says what it cannot see, and shows what they change', () =>
    withTracedCluster('nftables', async ({ cluster, connect, startProgram }) => {
      const to = ['--to-destination', '10.244.2.3:8080'];
      runIn(cluster.node, 'iptables-legacy', [
        '-t',
        'nat',
        '-A',
        'PREROUTING',
        '-d',
        '10.96.7.7',
        '-p',
        'tcp',
        '-j',
        'DNAT',
        ...to,
      ]);
      const program = startProgram('--to', '10.96.7.7:80', '--packets', '1', '--for', '60s');
      await program.untilPrinted('Start the connection now');
      await connect(cluster.host('ext'), '10.96.7.7' as Ip);
      assert.equal(await program.end(), 0, program.errors);
      assert.match(
        program.errors,
        /^This node has tables of iptables-legacy \(iptables-legacy: nat\)\. The kernel cannot trace their rules/,
      );
      assert.match(program.errors, /iptables-legacy -t raw -I PREROUTING -d IP -p tcp --dport PORT -j TRACE/);
      assert.match(program.output, /\n {6}destination 10\.96\.7\.7:80 becomes 10\.244\.2\.3:8080\n/);
    }));

  test('TRACE-12 the kernel dropped messages: the trace reports it and goes on', async () => {
    await withTracedCluster('nftables', async ({ cluster, connect }) => {
      let overruns = 0;
      let messages = 0;
      const monitor = TraceMonitor.open(
        { traced: () => messages++, overrun: () => overruns++, failed: assert.ifError },
        { namespace: cluster.node, receiveBuffer: 2048 },
      );
      try {
        await tracedDuring(cluster.node, SELECTION, () =>
          Promise.all([1, 2, 3, 4].map(() => connect(cluster.host('ext')))),
        );
        await waitFor('an overrun', () => overruns > 0);
        messages = 0;
        await tracedDuring(cluster.node, SELECTION, () => connect(cluster.host('ext')));
        await waitFor('messages after the overrun', () => messages > 0);
      } finally {
        monitor.close();
      }
    });
  });

  test('TRACE-9 the running proxy says which addresses a Service has', async () => {
    const namespace = createNodeNamespace();
    const folder = mkdtempSync(join(tmpdir(), 'trace-'));
    const socket = join(folder, 'run', 'proxy.sock');
    const flags = ['--manifests', 'examples', '--hostname-override', 'node-a', '--proxy-mode', 'nftables'];
    const proxy = new Program('the proxy', [KUBE_PROXY, ...flags, '--inspect-socket', socket], { namespace });
    const trace = (...args: string[]) => new TraceProgram(namespace, '--inspect-socket', socket, ...args);
    const programs: TraceProgram[] = [];
    try {
      await proxy.until(SYNCED);
      const missing = trace('--to', 'default/wep');
      programs.push(missing);
      assert.equal(await missing.end(), 2);
      assert.match(missing.errors, /default\/wep/);
      const program = trace('--from', 'node', '--to', 'api:https', '--packets', '1', '--for', '60s');
      programs.push(program);
      await program.untilPrinted('Start the connection now');
      await probe(namespace, '10.96.0.30' as Ip, 443, 'TCP', { tries: 1, timeoutMs: 100 });
      assert.equal(await program.end(), 0, program.errors);
      assert.match(program.output, /= default\/api:https, DNAT to 10\.244\.\d\.11:8443, /);
    } finally {
      await Promise.all(programs.map(program => program.end('SIGKILL')));
      await proxy.stop('SIGKILL');
      namespace.close();
      rmSync(folder, { recursive: true });
    }
  });
});
