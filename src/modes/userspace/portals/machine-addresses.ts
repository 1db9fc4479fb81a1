import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { RouteSocket, RouteTable, Scope } from '../../../kernel/rtnetlink/index.ts';
import type { Family, Ip } from '../../../net/index.ts';

/** This machine's addresses in one family. */
export interface MachineAddresses {
  readonly all: ReadonlySet<Ip>;
  /** The address of the interface with the default route; undefined without a default route. */
  readonly host: Ip | undefined;
}

/** Reads this machine's addresses. */
export class AddressReader {
  readonly #socket: RouteSocket;

  constructor(namespace: NetworkNamespace | undefined) {
    this.#socket = RouteSocket.open({ namespace });
  }

  read(family: Family): MachineAddresses {
    const addresses = this.#socket.addresses({ family });
    const routes = this.#socket.routes({ family, table: RouteTable.MAIN });
    const defaults = routes.filter(({ type, destination }) => type === 'unicast' && destination.prefix === 0);
    defaults.sort((a, b) => (a.metric ?? 0) - (b.metric ?? 0));
    const hosts = defaults.flatMap(({ dev }) =>
      addresses.filter(({ index, scope }) => index === dev && scope === Scope.GLOBAL).map(({ ip }) => ip),
    );
    return { all: new Set(addresses.map(({ ip }) => ip)), host: hosts[0] };
  }

  close(): void {
    this.#socket.close();
  }
}

export function sameAddresses(a: MachineAddresses, b: MachineAddresses): boolean {
  return a.host === b.host && a.all.size === b.all.size && [...a.all].every(ip => b.all.has(ip));
}
