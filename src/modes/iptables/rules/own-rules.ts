import { quoteRule } from '../../../kernel/iptables/index.ts';
import type { OwnRules } from '../../descriptor.ts';
import { Chain } from '../names.ts';
import { JUMPS } from './fixed-rules.ts';

const NAT: readonly string[] = [Chain.SERVICES, Chain.NODEPORTS, Chain.POSTROUTING, Chain.MARK_MASQ, Chain.CANARY];
const FILTER: readonly string[] = [
  Chain.SERVICES,
  Chain.EXTERNAL_SERVICES,
  Chain.FORWARD,
  Chain.NODEPORTS,
  Chain.PROXY_FIREWALL,
  Chain.FIREWALL,
  Chain.CANARY,
];

/** The chains and jumps that this mode uses, so that the cleanup of another mode leaves them. */
export const IPTABLES_OWN_RULES: OwnRules = {
  chain: (table, chain) => (table === 'nat' ? NAT : FILTER).includes(chain),
  jump: (table, from, rule) =>
    JUMPS.some(jump => jump.table === table && jump.from === from && quoteRule(jump.rule) === rule),
};
