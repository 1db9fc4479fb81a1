import { ANNOTATION_BALANCE } from '../../src/api/index.ts';
import { NftablesMode } from '../../src/modes/nftables/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { ModeHarness } from '../../test/support/mode-harness.ts';
import { loopbackOf, withRoutes } from '../../test/support/namespaces.ts';
import { service, slice } from '../../test/support/objects.ts';
import { TestNetwork, TestSocket } from '../../test/support/test-socket.ts';
import type { Choice } from './balance-load.ts';
import { median, quantile } from './report.ts';

/** How long connections took to set up, in microseconds. */
export interface BalancedConnects {
  /** `the endpoint itself`, or how the Service is balanced. */
  readonly to: string;
  readonly p50: number;
  readonly p99: number;
}

const CONNECTIONS = 2000;
const WARM_UP = 200;
const PODS = Array.from({ length: 5 }, (_, i) => `10.244.1.${i + 1}` as Ip);

/** Connects to one Service of each kind in turns, so that other work of the machine slows all of them alike. */
export async function measureBalancedConnects(choices: readonly Choice[]): Promise<readonly BalancedConnects[]> {
  const network = new TestNetwork(PODS);
  const { namespace } = network;
  const harness = new ModeHarness(events => new NftablesMode({ namespace, events }), {
    settings: { localDetector: undefined },
  });
  const services = choices.map((choice, i) => ({ choice, ip: `10.96.0.${i + 1}` as Ip, times: [] as number[] }));
  const direct: number[] = [];
  try {
    withRoutes(namespace, route => {
      for (const { ip } of services) route.addAddress(loopbackOf(route), { ip, prefix: 32 });
    });
    for (const { choice, ip } of services) {
      const annotations: Record<string, string> = choice === 'none' ? {} : { [ANNOTATION_BALANCE]: choice };
      harness.set(service(`web-${choice}`, { clusterIP: ip, annotations }), slice(`web-${choice}-1`, PODS));
    }
    await harness.sync();
    for (let i = 0; i < CONNECTIONS + WARM_UP; i++) {
      const times = services.map(({ ip }) => connect(network, ip, 80));
      const directTime = connect(network, PODS[i % PODS.length] ?? ('' as Ip), 8080);
      if (i < WARM_UP) continue;
      services.forEach(({ times: all }, at) => void all.push(times[at] ?? 0));
      direct.push(directTime);
    }
    return [summary('the endpoint itself', direct), ...services.map(({ choice, times }) => summary(choice, times))];
  } finally {
    await harness.close();
    network.close();
  }
}

function summary(to: string, times: readonly number[]): BalancedConnects {
  return { to, p50: median(times), p99: quantile(times, 0.99) };
}

function connect(network: TestNetwork, ip: Ip, port: number): number {
  const client = new TestSocket(network.namespace, 'IPv4');
  try {
    const start = performance.now();
    const result = client.connect(ip, port);
    const spent = (performance.now() - start) * 1000;
    if (result !== 'connected') throw new Error(`${ip}:${port}: ${result}`);
    network.takenBy();
    return spent;
  } finally {
    client.close();
  }
}
