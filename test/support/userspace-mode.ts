import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { writeSysctl } from '../../src/kernel/sysctl.ts';
import type { ModeSettings, SyncReport } from '../../src/modes/mode.ts';
import { UserspaceMode, type UserspaceModeOptions } from '../../src/modes/userspace/mode.ts';
import { FAMILIES, type Family } from '../../src/net/index.ts';
import { ModeHarness } from './mode-harness.ts';
import { runIn } from './run-in.ts';

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
  // A port with connections in TIME_WAIT could not be bound for a minute.
  writeSysctl('net/ipv4/tcp_max_tw_buckets', 0, namespace);
  return namespace;
}

type Options = Partial<Omit<UserspaceModeOptions, 'namespace' | 'events'>>;

/** userspace mode in a namespace. It serves both families, and a sync writes IPv4 unless the test names families. */
export class UserspaceHarness extends ModeHarness<UserspaceMode> {
  readonly namespace: NetworkNamespace;

  /** `isHome`: the process itself is in the namespace. */
  constructor(namespace: NetworkNamespace, options: Options = {}, { isHome = false } = {}) {
    const home = isHome ? undefined : namespace;
    super(events => new UserspaceMode({ drainMs: 0, ...options, namespace: home, events }), { families: FAMILIES });
    this.namespace = namespace;
  }

  override sync(settings: Partial<ModeSettings> = {}, families: readonly Family[] = ['IPv4']): Promise<SyncReport> {
    return super.sync(settings, families);
  }

  /** Looks for drift now, repairs it, and retries what is set aside. */
  lookForDrift(): Promise<void> {
    return this.mode.lookForDrift();
  }

  /** All rules of a table, as iptables-save lists them. */
  rules(table: 'nat' | 'filter' = 'nat', program = 'iptables'): readonly string[] {
    return runIn(this.namespace, `${program}-save`, ['-t', table])
      .split('\n')
      .filter(line => line.startsWith('-A'));
  }

  /** The proxy port to which the first rule with these words leads. */
  proxyPort(...words: readonly string[]): number {
    const own = this.rules().filter(text => text.startsWith('-A KUBE-'));
    const rule = own.find(text => words.every(word => text.includes(word)));
    return Number(/--to-(?:ports |destination \S+:)(\d+)/.exec(rule ?? '')?.[1]);
  }
}

/** Runs the work with the mode on a machine of its own, and removes the machine afterwards. */
export async function withUserspace(
  work: (harness: UserspaceHarness, namespace: NetworkNamespace) => Promise<void>,
  options: Options = {},
): Promise<void> {
  const namespace = loopMachine();
  const harness = new UserspaceHarness(namespace, options);
  try {
    await work(harness, namespace);
  } finally {
    await harness.close();
    namespace.close();
  }
}
