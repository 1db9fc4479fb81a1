import { KernelError } from '../../../kernel/errors.ts';
import { NONE } from '../../../lib/none.ts';
import type { Family, Ip } from '../../../net/index.ts';
import { type LocalhostListener, planName, type ServicePortPlan } from '../../../plan/index.ts';
import { Balancer, newCounters, type RelayResources, TcpListener, UdpListener } from '../../relay/index.ts';

/** Where the mode listens. Other loopback addresses refuse, as upstream's do. */
export const LOCALHOST: Readonly<Record<Family, Ip>> = { IPv4: '127.0.0.1' as Ip, IPv6: '::1' as Ip };

/** A node port at which this process listens on loopback. */
export class LocalhostPort {
  readonly protocol: LocalhostListener['protocol'];
  readonly number: number;
  readonly #balancer: Balancer;
  readonly #listener: TcpListener | UdpListener;

  /** Throws if another program has the port, or if the process needs its last descriptors for other work. */
  constructor(resources: RelayResources, family: Family, listener: LocalhostListener, plan: ServicePortPlan) {
    if (!resources.hasRoomFor(1)) {
      throw new KernelError('KERNEL_SOCKET', { operation: 'listen', errno: 'EMFILE', reason: resources.noRoomReason });
    }
    this.#balancer = new Balancer({ clock: resources.options.clock });
    const options = {
      resources,
      family,
      ip: LOCALHOST[family],
      // The balancer knows only the endpoints of this listener, whatever the policy is.
      policy: 'Cluster',
      balancer: this.#balancer,
      counters: newCounters(),
      name: planName(plan),
    } as const;
    const { protocol, port } = listener;
    this.protocol = protocol;
    this.number = port;
    this.#balance(listener, plan);
    this.#listener = protocol === 'UDP' ? new UdpListener(options, port) : new TcpListener(options, port);
  }

  /** Takes other endpoints and another affinity. Open connections go on. */
  update(listener: LocalhostListener, plan: ServicePortPlan): void {
    if (this.#balance(listener, plan)) this.#listener.endpointsGone();
  }

  /** Closes the open connections too, as upstream does. */
  close(): void {
    if (this.#listener instanceof TcpListener) this.#listener.closeAll();
    else this.#listener.close();
  }

  /** Returns whether endpoints are gone. */
  #balance({ endpoints, slots }: LocalhostListener, { port, balance }: ServicePortPlan): boolean {
    this.#balancer.configure(balance?.algorithm, port.affinitySeconds, balance?.hashBy);
    const gone = this.#balancer.setEndpoints({ cluster: endpoints, local: NONE }, { cluster: slots, local: NONE });
    return gone.length > 0;
  }
}
