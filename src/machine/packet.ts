import type { Family, Ip } from '../net/index.ts';

/** The first packet of a connection, as far as it is known. */
export interface Packet {
  readonly family: Family;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** Undefined if the caller's address is not known. */
  readonly source: Ip | undefined;
  readonly destination: Ip;
  readonly port: number;
}
