export interface BalancedService {
  readonly metadata: {
    readonly uid: string;
    readonly namespace: string;
    readonly name: string;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly type: string;
    readonly sessionAffinity?: string;
    readonly loadBalancerIP?: string;
    readonly loadBalancerClass?: string;
    readonly healthCheckNodePort?: number;
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

const MAX_ADDRESSES = 250;

/** A Service with a class has a load balancer of another kind. */
export function isBalanced({ metadata, spec }: BalancedService): boolean {
  return spec.type === 'LoadBalancer' && !metadata.deletionTimestamp && !spec.loadBalancerClass;
}

/** With externalTrafficPolicy Cluster, every node serves the Service as long as its proxy is healthy. */
export function healthCheckOf({ spec }: BalancedService): { readonly port: number; readonly path: string } {
  return spec.healthCheckNodePort ? { port: spec.healthCheckNodePort, path: '/' } : { port: 10256, path: '/healthz' };
}

/** Which load balancer has which address. */
export class LoadBalancerAddresses {
  readonly #byUid = new Map<string, string>();

  /** The address that the Service has or asks for, or a free one. */
  of({ metadata, spec, status }: BalancedService): string {
    const known = this.#byUid.get(metadata.uid);
    if (known !== undefined) return known;
    const address = status?.loadBalancer?.ingress?.[0]?.ip ?? (spec.loadBalancerIP || this.#freeAddress());
    this.#byUid.set(metadata.uid, address);
    return address;
  }

  /** Forgets the addresses of all other Services, and returns them. */
  forgetOthers(services: readonly BalancedService[]): readonly string[] {
    const uids = new Set(services.map(({ metadata }) => metadata.uid));
    const gone = [...this.#byUid].filter(([uid]) => !uids.has(uid));
    for (const [uid] of gone) this.#byUid.delete(uid);
    return gone.map(([, address]) => address);
  }

  #freeAddress(): string {
    const used = new Set(this.#byUid.values());
    for (let number = 1; number <= MAX_ADDRESSES; number++) {
      if (!used.has(`172.31.1.${number}`)) return `172.31.1.${number}`;
    }
    throw new Error('All addresses of load balancers are taken');
  }
}
