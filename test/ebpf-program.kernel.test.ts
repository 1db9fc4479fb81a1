import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ip } from '../src/net/index.ts';
import { Program } from './control-plane/program.ts';
import { testControlGroup } from './support/bpf-lab.ts';
import { ConnectingProcess } from './support/connecting-process.ts';
import { buildKubeProxy, KUBE_PROXY, SYNCED } from './support/kube-proxy.ts';
import { MountHolder } from './support/mount-holder.ts';
import { nft } from './support/nftables-mode.ts';
import { runIn } from './support/run-in.ts';
import { TestNetwork } from './support/test-socket.ts';

const ENDPOINTS: readonly Ip[] = ['10.244.1.2' as Ip, '10.244.1.3' as Ip];
const ENDPOINT_PORT = 8090;
const WEB = { ip: '10.96.0.10' as Ip, port: 80 };
const STICKY = { ip: '10.96.0.20' as Ip, port: 80 };
const TALK_IP = '10.96.0.30' as Ip;
const TALK_PORT = 8092;
/** The address that sockets get which the network leads to an endpoint. */
const BY_NETWORK = '10.9.9.9' as Ip;
/** Time in which no process serves. */
const GAP_MS = 200;
const MAX_COMMAND_MS = 60_000;

interface ServiceManifest {
  readonly name: string;
  readonly clusterIP: Ip;
  readonly affinity?: 'None' | 'ClientIP';
  /** That of the endpoints. */
  readonly port?: number;
}

function manifest({ name, clusterIP, affinity = 'None', port = ENDPOINT_PORT }: ServiceManifest): string {
  const endpoints = ENDPOINTS.map(ip => `  - { addresses: [${ip}], conditions: { ready: true } }`);
  return `apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { clusterIP: ${clusterIP}, sessionAffinity: ${affinity}, ports: [{ port: 80, targetPort: ${port} }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, namespace: shop, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ port: ${port}, protocol: TCP }]
endpoints:
${endpoints.join('\n')}
`;
}

/** Sends a byte through one connection again and again, and reports each answer of the server at the other end. */
const TALK = `
  const [group, service, port, isServer] = process.argv.slice(1);
  const net = require('node:net');
  require('node:fs').writeFileSync(group + '/cgroup.procs', String(process.pid));
  if (isServer) net.createServer(socket => socket.pipe(socket)).listen(Number(port), talk);
  else talk();
  function talk() {
    const client = net.connect(80, service, () => setInterval(() => client.write('?'), 20));
    client.on('data', () => console.error('answered')).on('close', () => process.exit(1));
  }
`;

/** The program, its commands and its clients, in a network, a control group and mounts of their own. */
class ProgramLab {
  readonly network = new TestNetwork([BY_NETWORK, ...ENDPOINTS], 8091);
  readonly group = join(testControlGroup(), 'program');
  readonly #folder = mkdtempSync(join(tmpdir(), 'pointsman-ebpf-'));
  readonly #mounts: MountHolder;
  readonly #programs: Program[] = [];

  private constructor(mounts: MountHolder) {
    this.#mounts = mounts;
    mkdirSync(this.group);
    mkdirSync(this.manifests);
    this.setRoute('add');
    this.#write({ name: 'web', clusterIP: WEB.ip });
    this.#write({ name: 'sticky', clusterIP: STICKY.ip, affinity: 'ClientIP' });
    this.#write({ name: 'talk', clusterIP: TALK_IP, port: TALK_PORT });
  }

  static async with(work: (lab: ProgramLab) => Promise<void>): Promise<void> {
    buildKubeProxy();
    const mounts = await MountHolder.withBpffs();
    try {
      const lab = new ProgramLab(mounts);
      try {
        await work(lab);
      } finally {
        await lab.#close();
      }
    } finally {
      await mounts.close();
    }
  }

  get manifests(): string {
    return join(this.#folder, 'manifests');
  }

  /** The packets of sockets that no program translates take this route, and meet the rules of the network. */
  setRoute(action: 'add' | 'delete'): void {
    runIn(this.network.namespace, 'ip', ['route', action, 'default', 'dev', 'lo', 'src', BY_NETWORK]);
  }

  async start(mode = 'ebpf'): Promise<Program> {
    const own = ['--inspect-socket', this.#socket, '--healthz-bind-address=', '--page-bind-address='];
    const command = this.#mounts.command(KUBE_PROXY, ...this.flags(mode), ...own);
    const program = new Program('the proxy', command, { namespace: this.network.namespace });
    this.#programs.push(program);
    await program.until(SYNCED);
    return program;
  }

  flags(mode = 'ebpf'): readonly string[] {
    const node = ['--hostname-override', 'node-a', '--cluster-cidr', '10.244.0.0/16'];
    return ['--manifests', this.manifests, ...node, '--proxy-mode', mode, '--cgroup-root', this.group];
  }

  status(): string {
    return this.run(KUBE_PROXY, 'status', '--inspect-socket', this.#socket).stdout;
  }

  run(...command: readonly string[]) {
    const [program = '', ...args] = this.#mounts.command(...command);
    const options = { encoding: 'utf8', timeout: MAX_COMMAND_MS } as const;
    const { status, stdout, stderr } = this.network.namespace.run(() => spawnSync(program, args, options));
    return { status, stdout, stderr };
  }

  get hasPins(): boolean {
    return this.run('ls', '/sys/fs/bpf').stdout.includes('pointsman');
  }

  clients(): Promise<ConnectingProcess> {
    return ConnectingProcess.start(this.network.namespace, ENDPOINT_PORT, [WEB, STICKY], this.group);
  }

  /** Starts a process that holds one connection. The first one also has the server. */
  async talk(isServer: boolean): Promise<Program> {
    const args = [this.group, TALK_IP, `${TALK_PORT}`, ...(isServer ? ['server'] : [])];
    const program = new Program('a caller', [process.execPath, '-e', TALK, ...args], {
      namespace: this.network.namespace,
    });
    this.#programs.push(program);
    await program.until('answered');
    return program;
  }

  #write(service: ServiceManifest): void {
    writeFileSync(join(this.manifests, `${service.name}.yaml`), manifest(service));
  }

  get #socket(): string {
    return join(this.#folder, 'proxy.sock');
  }

  async #close(): Promise<void> {
    for (const program of this.#programs) await program.stop('SIGKILL');
    this.network.close();
    rmSync(this.#folder, { recursive: true });
    rmdirSync(this.group);
  }
}

/** What connections got, sorted: all results for each destination. */
async function resultsOf(clients: ConnectingProcess): Promise<readonly (readonly string[])[]> {
  const attempts = await clients.end();
  return [WEB, STICKY].map((_, i) =>
    [...new Set(attempts.filter(({ destination }) => destination === i).map(({ result }) => result))].sort(),
  );
}

test('EBPF-100 the program is killed, started anew and removed while its clients connect', () =>
  ProgramLab.with(async lab => {
    const first = await lab.start();
    assert.match(
      lab.status(),
      /^ {2}✓ sockets ok: serving: TCP connections of all processes below \S+ are translated$/m,
    );
    const difference = () => lab.run(KUBE_PROXY, 'plan', ...lab.flags(), '--diff').stdout;
    assert.equal(difference(), 'no difference\n');

    const clients = await lab.clients();
    try {
      await first.stop('SIGKILL');
      await delay(GAP_MS);
      const second = await lab.start();
      assert.equal(difference(), 'no difference\n');
      await second.stop('SIGTERM');
      const [web, sticky] = await resultsOf(clients);
      assert.deepEqual(web, ENDPOINTS);
      assert.ok(sticky?.length === 1 && ENDPOINTS.includes(sticky[0] as Ip), `${sticky}`);

      const cleanup = lab.run(KUBE_PROXY, 'cleanup', '--cgroup-root', lab.group);
      assert.equal(cleanup.status, 0, cleanup.stderr);
      assert.match(cleanup.stdout, /^removed pins in \/sys\/fs\/bpf\/pointsman\/cgroup-\d+$/m);
      assert.equal(lab.hasPins, false);
      assert.equal(nft(lab.network.namespace, 'list', 'tables'), '');
      lab.setRoute('delete');
      assert.deepEqual(await resultsOf(await lab.clients()), [['errno 101'], ['errno 101']]);
    } finally {
      clients.kill();
    }
  }));

test('EBPF-12 a change of mode removes the pins of a program that was killed, and connections go on', () =>
  ProgramLab.with(async lab => {
    let program = await lab.start('nftables');
    const callers = [await lab.talk(true)];
    const clients = await lab.clients();
    try {
      for (const mode of ['ebpf', 'nftables', 'ebpf', 'iptables'] as const) {
        await program.stop('SIGKILL');
        program = await lab.start(mode);
        await program.waitFor(
          'take over',
          () => lab.hasPins === (mode === 'ebpf') && hasTable(lab) === (mode !== 'iptables'),
          MAX_COMMAND_MS,
        );
        if (callers.length === 1) callers.push(await lab.talk(false));
        for (const caller of callers) await caller.until('answered', { from: caller.lines.length });
      }
      const [web] = await resultsOf(clients);
      assert.deepEqual(web, [BY_NETWORK, ...ENDPOINTS].sort());
    } finally {
      clients.kill();
    }
  }));

function hasTable(lab: ProgramLab): boolean {
  return nft(lab.network.namespace, 'list', 'tables').includes('ip kube-proxy');
}
