/** `TCP_CLOSE` of `linux/tcp_states.h`. */
export const CLOSED = 7;

/** States of TCP by their numbers in `linux/tcp_states.h`, in the words of `ss`. */
const NAMES: Readonly<Record<number, string>> = {
  1: 'ESTAB',
  2: 'SYN-SENT',
  3: 'SYN-RECV',
  4: 'FIN-WAIT-1',
  5: 'FIN-WAIT-2',
  6: 'TIME-WAIT',
  8: 'CLOSE-WAIT',
  9: 'LAST-ACK',
  10: 'LISTEN',
  11: 'CLOSING',
};

export function stateName(state: number): string {
  return NAMES[state] ?? `state ${state}`;
}
