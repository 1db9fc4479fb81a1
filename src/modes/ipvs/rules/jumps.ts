import type { SavedTables } from '../../../kernel/iptables/index.ts';
import type { OwnRules } from '../../descriptor.ts';
import { CHAINS, TABLES, type Table } from '../names.ts';

/** A rule of a built-in chain that leads to a chain of the mode. */
export interface Jump {
  readonly table: Table;
  readonly from: string;
  readonly to: string;
  readonly comment: string;
}

/** In the order in which the mode inserts them, each at the top of its chain. */
export const JUMPS: readonly Jump[] = [
  { table: 'nat', from: 'OUTPUT', to: 'KUBE-SERVICES', comment: 'kubernetes service portals' },
  { table: 'nat', from: 'PREROUTING', to: 'KUBE-SERVICES', comment: 'kubernetes service portals' },
  { table: 'nat', from: 'POSTROUTING', to: 'KUBE-POSTROUTING', comment: 'kubernetes postrouting rules' },
  { table: 'filter', from: 'FORWARD', to: 'KUBE-FORWARD', comment: 'kubernetes forwarding rules' },
  { table: 'filter', from: 'INPUT', to: 'KUBE-NODE-PORT', comment: 'kubernetes health check rules' },
  { table: 'filter', from: 'INPUT', to: 'KUBE-PROXY-FIREWALL', comment: 'kube-proxy firewall rules' },
  { table: 'filter', from: 'FORWARD', to: 'KUBE-PROXY-FIREWALL', comment: 'kube-proxy firewall rules' },
  { table: 'filter', from: 'INPUT', to: 'KUBE-IPVS-FILTER', comment: 'kubernetes ipvs access filter' },
  { table: 'filter', from: 'OUTPUT', to: 'KUBE-IPVS-OUT-FILTER', comment: 'kubernetes ipvs access filter' },
];

/** What follows the name of the chain that jumps. iptables-save lists it in the same words. */
export function jumpRule({ comment, to }: Jump): string {
  return `-m comment --comment "${comment}" -j ${to}`;
}

export function missingJumps(tables: SavedTables): readonly Jump[] {
  return JUMPS.filter(jump => {
    const rules = tables.get(jump.table)?.get(jump.from)?.rules ?? [];
    return !rules.some(({ text }) => text === jumpRule(jump));
  });
}

export const OWN_RULES: OwnRules = {
  chain: (table, chain) => TABLES.some(own => own === table && CHAINS[own].includes(chain)),
  jump: (table, from, rule) =>
    JUMPS.some(jump => jump.table === table && jump.from === from && jumpRule(jump) === rule),
};
