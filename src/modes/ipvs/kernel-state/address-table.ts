import type { Link, RouteSocket } from '../../../kernel/rtnetlink/index.ts';
import { type Family, type Ip, parseIp } from '../../../net/index.ts';
import type { Wanted } from '../wanted/wanted-objects.ts';
import { type Measured, type Refused, timed, type Written } from './write-report.ts';

/** Addresses of Services are given to this link, so that packets to them are for this machine and ipvs gets them. */
export const DEVICE = 'kube-ipvs0';

const PREFIX = { IPv4: 32, IPv6: 128 } as const;

/**
 * The link as it is or newly made. It is never set up: addresses have local routes all the same, and nothing is ever
 * sent or announced through it.
 */
export function ensureDevice(socket: RouteSocket): Link {
  return socket.link(DEVICE) ?? socket.addLink({ kind: 'dummy', name: DEVICE, txqlen: 0 });
}

/** The addresses of one family on the link, as far as we know. */
export class AddressTable {
  readonly #socket: RouteSocket;
  readonly #family: Family;
  readonly #measured: Measured;
  readonly #known = new Set<string>();
  #link: Link | undefined;

  constructor(socket: RouteSocket, family: Family, measured: Measured) {
    this.#socket = socket;
    this.#family = family;
    this.#measured = measured;
  }

  has(ip: string): boolean {
    return this.#known.has(ip);
  }

  ips(): Iterable<string> {
    return this.#known;
  }

  read(): void {
    this.#link = ensureDevice(this.#socket);
    this.#known.clear();
    const addresses = this.#socket.addresses({ family: this.#family, link: this.#link });
    for (const { ip } of addresses) if (!isLinkLocal(ip)) this.#known.add(ip);
    this.#measured(2, 0);
  }

  add(texts: Iterable<string>, wanted: Wanted, written: Written): Promise<readonly Refused[]> {
    const missing = [...texts].filter(text => wanted.element('ipvsIPs', text) && !this.#known.has(text));
    return this.#change('add', missing, written);
  }

  remove(texts: Iterable<string>, wanted: Wanted, written: Written): Promise<readonly Refused[]> {
    const superfluous = [...texts].filter(text => !wanted.element('ipvsIPs', text) && this.#known.has(text));
    return this.#change('del', superfluous, written);
  }

  async #change(verb: 'add' | 'del', texts: readonly string[], written: Written): Promise<readonly Refused[]> {
    const link = this.#link;
    const addresses = texts.flatMap(text => {
      const ip = parseIp(text);
      return ip ? [{ ip, prefix: PREFIX[this.#family] }] : [];
    });
    if (!link || addresses.length === 0) return [];
    const refusals = await timed(this.#measured, addresses.length, () =>
      verb === 'add' ? this.#socket.addAddresses(link, addresses) : this.#socket.deleteAddresses(link, addresses),
    );
    const errors = new Map(refusals.map(({ item, error }) => [item.ip, error]));
    const refused: Refused[] = [];
    for (const { ip } of addresses) {
      const error = errors.get(ip);
      if (error && !isAlreadySo(error.errno)) {
        refused.push({ object: ip, error, isStale: error.errno === 'ENODEV' });
        continue;
      }
      if (verb === 'add') this.#known.add(ip);
      else this.#known.delete(ip);
    }
    written.add(`${verb === 'add' ? 'added' : 'deleted'} address of ${DEVICE}`, addresses.length - refused.length);
    return refused;
  }
}

/** The kernel gives every IPv6 link one of its own. */
export function isLinkLocal(ip: Ip): boolean {
  return /^fe[89ab]/.test(ip);
}

function isAlreadySo(errno: string | undefined): boolean {
  return errno === 'EEXIST' || errno === 'EADDRNOTAVAIL';
}
