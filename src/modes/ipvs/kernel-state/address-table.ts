import { withModuleAdvice } from '../../../kernel/errors.ts';
import type { Link, RouteSocket } from '../../../kernel/rtnetlink/index.ts';
import { type Family, isLinkLocal, parseIp } from '../../../net/index.ts';
import { addressesToAdd, addressesToDelete } from '../diff.ts';
import { LINK } from '../names.ts';
import type { WantedObjects } from '../wanted/wanted-objects.ts';
import { type BatchObserver, measureBatch, type RefusedObject, type WriteSummary } from './write-report.ts';

export const PREFIX_LENGTH = { IPv4: 32, IPv6: 128 } as const;

/** The addresses of one family that kube-ipvs0 has, as far as the mode knows. */
export class AddressTable {
  readonly #socket: RouteSocket;
  readonly #family: Family;
  readonly #observe: BatchObserver;
  readonly #known = new Set<string>();
  #link: Link | undefined;

  constructor(socket: RouteSocket, family: Family, observe: BatchObserver) {
    this.#socket = socket;
    this.#family = family;
    this.#observe = observe;
  }

  get known(): ReadonlySet<string> {
    return this.#known;
  }

  get hasLink(): boolean {
    return this.#link !== undefined;
  }

  read(): void {
    this.#link = this.#socket.link(LINK);
    this.#known.clear();
    const addresses = this.#link ? this.#socket.addresses({ family: this.#family, link: this.#link }) : [];
    for (const { ip } of addresses) if (!isLinkLocal(ip)) this.#known.add(ip);
    this.#observe(2, 0);
  }

  /** The link is never set up. Its addresses have local routes anyway, and the kernel sends nothing through it. */
  createLink(): void {
    try {
      this.#link ??= this.#socket.addLink({ kind: 'dummy', name: LINK, txqlen: 0 });
    } catch (error) {
      throw withModuleAdvice(error, 'dummy');
    }
  }

  add(names: Iterable<string>, wanted: WantedObjects, summary: WriteSummary): Promise<readonly RefusedObject[]> {
    return this.#change('add', addressesToAdd(names, wanted, this.#known), summary);
  }

  remove(names: Iterable<string>, wanted: WantedObjects, summary: WriteSummary): Promise<readonly RefusedObject[]> {
    return this.#change('del', addressesToDelete(names, wanted, this.#known), summary);
  }

  async #change(
    verb: 'add' | 'del',
    names: readonly string[],
    summary: WriteSummary,
  ): Promise<readonly RefusedObject[]> {
    const link = this.#link;
    const addresses = names.flatMap(name => {
      const ip = parseIp(name);
      return ip ? [{ ip, prefix: PREFIX_LENGTH[this.#family] }] : [];
    });
    if (!link || addresses.length === 0) return [];
    const refusals = await measureBatch(this.#observe, addresses.length, () =>
      verb === 'add' ? this.#socket.addAddresses(link, addresses) : this.#socket.deleteAddresses(link, addresses),
    );
    const errors = new Map(refusals.map(({ item, error }) => [item.ip, error]));
    const refused: RefusedObject[] = [];
    for (const { ip } of addresses) {
      const error = errors.get(ip);
      if (error && !isAlreadySo(error.errno)) {
        refused.push({ id: ip, error, isStale: error.errno === 'ENODEV' });
        continue;
      }
      if (verb === 'add') this.#known.add(ip);
      else this.#known.delete(ip);
    }
    summary.add(`${verb === 'add' ? 'added' : 'deleted'} address of ${LINK}`, addresses.length - refused.length);
    return refused;
  }
}

function isAlreadySo(errno: string | undefined): boolean {
  return errno === 'EEXIST' || errno === 'EADDRNOTAVAIL';
}
