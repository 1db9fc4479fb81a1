import { hostname } from 'node:os';
import type { Node } from '../api/index.ts';
import { RouteSocket, Scope } from '../kernel/rtnetlink/index.ts';
import type { Change } from '../lib/change.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { FatalError } from '../lib/fatal-error.ts';
import { rawNodeIPs } from '../model/index.ts';
import type { Logger } from '../observe/logging/index.ts';

const ADDRESSES_TIMEOUT_MS = 30_000;
const POD_CIDRS_TIMEOUT_MS = 300_000;

interface Waiter {
  readonly isEnough: (node: Node) => boolean;
  readonly done: (isEnough: boolean) => void;
}

/** The Node object of the machine that the proxy runs on, as it is now. */
export class OwnNode {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();
  #node: Node | undefined;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get node(): Node | undefined {
    return this.#node;
  }

  /** Keeps a Node that was deleted: its proxy still runs, so the kubelet will register it again. */
  handle(change: Change<Node>): void {
    if (change.type === 'removed') return;
    this.#node = change.to;
    for (const waiter of this.#waiters) {
      if (waiter.isEnough(change.to)) waiter.done(true);
    }
  }

  /** Resolves with true as soon as the Node is enough, or with false after `ms`. */
  waitUntil(isEnough: (node: Node) => boolean, ms: number): Promise<boolean> {
    if (this.#node && isEnough(this.#node)) return Promise.resolve(true);
    return new Promise(resolve => {
      const done = (result: boolean) => {
        timer.cancel();
        this.#waiters.delete(waiter);
        resolve(result);
      };
      const waiter: Waiter = { isEnough, done };
      const timer = this.#clock.setTimer(ms, () => done(false));
      this.#waiters.add(waiter);
    });
  }
}

/**
 * Waits until the Node has addresses and, if local traffic is detected by them, pod CIDRs. Without addresses the proxy
 * uses those of the machine. Without pod CIDRs it cannot start.
 */
export async function waitForNode(own: OwnNode, name: string, needsPodCIDRs: boolean, log: Logger): Promise<void> {
  const waitFor = (part: string, has: (node: Node) => boolean, ms: number) => {
    const isThere = own.node !== undefined && has(own.node);
    if (!isThere) log.info('server', `Waiting for the Node to have ${part}`, { node: name, atMost: `${ms / 1000}s` });
    return own.waitUntil(has, ms);
  };
  const hasIPs = await waitFor('addresses', node => rawNodeIPs(node).length > 0, ADDRESSES_TIMEOUT_MS);
  const hasPodCIDRs =
    !needsPodCIDRs || (await waitFor('PodCIDRs', ({ podCIDRs }) => podCIDRs.length > 0, POD_CIDRS_TIMEOUT_MS));
  const quotedName = JSON.stringify(name);
  if (!hasPodCIDRs) {
    throw new FatalError(
      own.node
        ? `timeout waiting for PodCIDR allocation on node ${quotedName}`
        : `timeout waiting for node ${quotedName} to exist`,
    );
  }
  if (hasIPs) {
    log.info('server', 'Successfully retrieved NodeIPs', { NodeIPs: rawNodeIPs(own.node) });
  } else {
    const err = own.node ? `host IP unknown for node ${quotedName}` : `node ${quotedName} not found`;
    log.error('server', 'Failed to retrieve NodeIPs', { err });
  }
}

/** This machine as a Node, for use without a cluster. Its global addresses are the Node's internal addresses. */
export function localNode(name: string): Node {
  const socket = RouteSocket.open();
  try {
    const addresses = [...socket.addresses()]
      .filter(({ scope }) => scope === Scope.GLOBAL)
      .map(({ ip }) => ({ type: 'InternalIP', address: ip }));
    return {
      kind: 'Node',
      metadata: { name, namespace: '', labels: {}, annotations: {} },
      podCIDRs: [],
      addresses: [...addresses, { type: 'Hostname', address: hostname() }],
    };
  } finally {
    socket.close();
  }
}
