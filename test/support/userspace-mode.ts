import { spawnSync } from 'node:child_process';
import type { EndpointSlice, Service } from '../../src/api/index.ts';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { writeSysctl } from '../../src/kernel/sysctl.ts';
import { Model } from '../../src/model/index.ts';
import type { ModeEvents, ModeSettings, SetAside } from '../../src/modes/index.ts';
import { UserspaceMode, type UserspaceModeOptions } from '../../src/modes/userspace/index.ts';
import type { Family, Ip } from '../../src/net/index.ts';
import { Planner, type PlanOptions } from '../../src/plan/index.ts';
import { modeSettingsFor } from './mode-harness.ts';

/** A machine that is its own cluster: endpoints are 10.244.1.1 to 10.244.1.9, and everything else leads nowhere. */
export function loopMachine(): NetworkNamespace {
  const namespace = NetworkNamespace.create();
  const endpoints = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap(n => [
    `addr add 10.244.1.${n}/32 dev lo`,
    `addr add fd00:10:244:1::${n}/128 dev lo nodad`,
  ]);
  const script = [
    'link set lo up',
    'link add eth0 type veth peer name nowhere',
    'link set nowhere up',
    'link set eth0 up',
    'addr add 192.168.0.2/24 dev eth0',
    'addr add fd00:192:168::2/64 dev eth0 nodad',
    ...endpoints,
    'route add default dev eth0',
    'route add ::/0 dev eth0',
  ];
  runIn(namespace, 'ip', ['-batch', '-'], script.map(line => `${line}\n`).join(''));
  // A port whose connections wait for stray packets could not be claimed for a minute.
  writeSysctl('net/ipv4/tcp_max_tw_buckets', 0, namespace);
  return namespace;
}

/** Runs a program in the namespace and returns what it printed; throws if it failed. */
export function runIn(namespace: NetworkNamespace, program: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = namespace.run(() => spawnSync(program, args, { input, encoding: 'utf8' }));
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

type Options = Partial<Omit<UserspaceModeOptions, 'namespace' | 'events'>>;

/** userspace mode in a namespace, fed with objects. What it told is kept. */
export class UserspaceUnderTest {
  readonly namespace: NetworkNamespace;
  readonly mode: UserspaceMode;
  readonly told: string[] = [];
  readonly refused: SetAside[] = [];
  readonly #models: Readonly<Record<Family, readonly [Model, Planner]>>;

  /** `isHome`: the process is in the namespace itself, so the mode need not be told. */
  constructor(
    namespace: NetworkNamespace,
    options: Options = {},
    node = { name: 'node-a', zone: 'zone-a' },
    { isHome = false } = {},
  ) {
    this.namespace = namespace;
    const events: ModeEvents = {
      progress: () => {},
      setAside: port => this.refused.push(port),
      driftRepaired: (_family, what) => this.told.push(`repaired: ${what}`),
      measured: () => {},
      noticed: () => {},
      failed: (what, error) => this.told.push(`failed: ${what}: ${error}`),
    };
    this.mode = new UserspaceMode({ drainMs: 0, ...options, namespace: isHome ? undefined : namespace, events });
    this.#models = { IPv4: plans('IPv4', node), IPv6: plans('IPv6', node) };
  }

  set(...objects: readonly (Service | EndpointSlice)[]): void {
    for (const [model] of Object.values(this.#models)) {
      for (const object of objects) {
        if (object.kind === 'Service') model.setService(object);
        else model.setEndpointSlice(object);
      }
    }
  }

  deleteService(key: string): void {
    for (const [model] of Object.values(this.#models)) model.deleteService(key);
  }

  deleteEndpointSlice(key: string): void {
    for (const [model] of Object.values(this.#models)) model.deleteEndpointSlice(key);
  }

  async sync(settings: Partial<ModeSettings> = {}, families: readonly Family[] = ['IPv4']): Promise<void> {
    for (const family of families) {
      const [model, planner] = this.#models[family];
      await this.mode.sync(family, planner.update(model.take()), modeSettingsFor(family, settings));
    }
  }

  /** The rules of our chains in a table, and the jumps to them, as iptables-save lists them. */
  rules(table: 'nat' | 'filter' = 'nat', program = 'iptables'): readonly string[] {
    return runIn(this.namespace, `${program}-save`, ['-t', table])
      .split('\n')
      .filter(line => line.startsWith('-A'));
  }

  /** The port that the first rule with these words leads to. */
  proxyPort(...words: readonly string[]): number {
    const own = this.rules().filter(text => text.startsWith('-A KUBE-'));
    const rule = own.find(text => words.every(word => text.includes(word)));
    return Number(/--to-(?:ports |destination \S+:)(\d+)/.exec(rule ?? '')?.[1]);
  }
}

function plans(family: Family, node: PlanOptions['node']): readonly [Model, Planner] {
  const model = new Model({ family, nodeName: node.name, startedAt: 0, report: () => {} });
  const { localDetector } = modeSettingsFor(family);
  const nodeIP = (family === 'IPv4' ? '192.168.0.2' : 'fd00:192:168::2') as Ip;
  return [model, new Planner(model, { node, nodeIP, localDetector, masqueradeAll: false, allowExternalIPs: true })];
}

/** Runs with the mode on a machine of its own, and leaves nothing behind. */
export async function withUserspace(
  work: (under: UserspaceUnderTest, namespace: NetworkNamespace) => Promise<void>,
  options: Options = {},
): Promise<void> {
  const namespace = loopMachine();
  const under = new UserspaceUnderTest(namespace, options);
  try {
    await work(under, namespace);
  } finally {
    await under.mode.close();
    namespace.close();
  }
}
