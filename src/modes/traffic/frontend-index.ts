import { type Flow, L4 } from '../../kernel/conntrack/index.ts';
import { Breaks } from '../../lib/breaks.ts';
import { type Family, familyOf, type Ip } from '../../net/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import { trafficId } from './figures.ts';

/** The plan of a service port, and its family. */
export type FamilyPlan = readonly [family: Family, plan: ServicePortPlan];

/** Finds the service port that a translated flow asked for. */
export class FrontendIndex {
  /** By address, protocol and port. A node port has its family in place of the address. */
  readonly #frontends = new Map<string, FamilyPlan>();
  readonly #plans = new Map<string, FamilyPlan>();

  /** Takes breaks: there may be tens of thousands of service ports. */
  static async of(plans: Iterable<FamilyPlan>): Promise<FrontendIndex> {
    const index = new FrontendIndex();
    const breaks = new Breaks();
    for (const each of plans) {
      index.#add(each);
      if (breaks.isDue) await breaks.take();
    }
    return index;
  }

  find({ family, protocol, original }: Flow): FamilyPlan | undefined {
    return this.#at(family, original.dst, protocol, original.dstPort);
  }

  /** The service port that a TCP connection to this address asks for. */
  tcp(ip: Ip, port: number): FamilyPlan | undefined {
    return this.#at(familyOf(ip), ip, L4.TCP, port);
  }

  /** The service port with this traffic id. */
  byId(id: string): FamilyPlan | undefined {
    return this.#plans.get(id);
  }

  #at(family: Family, ip: Ip, protocol: number, port: number): FamilyPlan | undefined {
    return this.#frontends.get(`${ip} ${protocol} ${port}`) ?? this.#frontends.get(`${family} ${protocol} ${port}`);
  }

  #add(each: FamilyPlan): void {
    const [family, { service, frontends, port }] = each;
    const protocol = L4[port.protocol];
    this.#plans.set(trafficId({ family, service, port: port.name }), each);
    for (const { ip = family, port } of frontends) this.#frontends.set(`${ip} ${protocol} ${port}`, each);
  }
}
