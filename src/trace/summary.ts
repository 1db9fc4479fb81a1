import type { RuleStep, TracedPacket, TraceOutcome } from './traced-packet.ts';

/**
 * One line about a packet: `10.244.1.200:41234 → 10.96.0.10:80 tcp: default/web:http, DNAT to 10.244.2.3:8080, source
 * replaced by 192.168.0.2, accepted, left through eth0`
 */
export function summaryOf(packet: TracedPacket): string {
  const { first, protocol, tcpFlags } = packet;
  const flags = tcpFlags ? ` ${tcpFlags}` : '';
  return `${first.source} → ${first.destination} ${protocol}${flags}: ${resultOf(packet)}`;
}

/** The summary without the packet's addresses. */
export function resultOf({ first, last, services, skipsNat, outcome }: TracedPacket): string {
  const parts = [
    ...services,
    ...(skipsNat ? ['connection tracked already, so no nat chain was asked'] : []),
    ...(first.destination === last.destination ? [] : [`DNAT to ${last.destination}`]),
    ...(first.source === last.source ? [] : [`source replaced by ${last.source}`]),
    outcomeText(outcome),
  ];
  return parts.join(', ');
}

function outcomeText(outcome: TraceOutcome): string {
  switch (outcome.kind) {
    case 'left':
      return `accepted, left through ${outcome.interface}`;
    case 'delivered':
      return 'accepted, given to this machine itself';
    case 'dropped':
    case 'rejected':
      return `${outcome.kind} by table ${outcome.table}, ${ruleText(outcome.rule)}`;
    case 'lost':
      return `lost after ${outcome.after ?? 'an unknown hook'}: no rule of nf_tables dropped it`;
  }
}

function ruleText({ kind, chain, position, text }: RuleStep): string {
  if (kind === 'policy') return `chain ${chain}, ${text}`;
  return `chain ${chain}, rule ${position === undefined ? '' : `${position}: `}${text}`;
}
