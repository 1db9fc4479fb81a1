/** The supported families of tables. An `inet` table sees both IPv4 and IPv6 packets. */
export type NftFamily = 'ip' | 'ip6' | 'inet';

/** NFPROTO_*, as in nfgenmsg. */
export const familyNumbers: Readonly<Record<NftFamily, number>> = { ip: 2, ip6: 10, inet: 1 };

/** Returns undefined for unsupported families (arp, bridge, netdev). */
export function familyFromNumber(number: number): NftFamily | undefined {
  switch (number) {
    case 1:
      return 'inet';
    case 2:
      return 'ip';
    case 10:
      return 'ip6';
    default:
      return undefined;
  }
}
