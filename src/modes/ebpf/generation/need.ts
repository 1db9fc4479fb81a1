import type { SocketPort } from '../render.ts';

/** How many entries some service ports of one family need, and how many of them need a part. */
export class Need {
  ports = 0;
  frontends = 0;
  pools = 0;
  slots = 0;
  members = 0;
  withAffinity = 0;
  withLeastConnections = 0;

  static of(ports: Iterable<SocketPort>): Need {
    const need = new Need();
    for (const port of ports) need.add(port);
    return need;
  }

  copy(): Need {
    return Object.assign(new Need(), this);
  }

  add(port: SocketPort): void {
    this.#count(port, 1);
  }

  remove(port: SocketPort): void {
    this.#count(port, -1);
  }

  #count({ targets, pools, affinitySeconds, isLeastConnections }: SocketPort, sign: 1 | -1): void {
    let slots = 0;
    for (const { endpoints } of pools) slots += endpoints.length;
    this.ports += sign;
    this.frontends += sign * targets.length;
    this.pools += sign * pools.length;
    this.slots += sign * slots;
    if (isLeastConnections) this.withLeastConnections += sign;
    if (affinitySeconds === 0) return;
    this.withAffinity += sign;
    this.members += sign * slots;
  }
}
