import type { Configuration } from '../configuration.ts';
import type { FieldError } from './field-error.ts';
import { validateNotNegative, validateRange } from './numbers.ts';

export function validateLinux(path: string, linux: Configuration['linux']): FieldError[] {
  const { conntrack, oomScoreAdj } = linux;
  const at = `${path}.KubeProxyConntrackConfiguration`;
  return [
    ...validateNotNegative(`${at}.MaxPerCore`, conntrack.maxPerCore),
    ...validateNotNegative(`${at}.Min`, conntrack.min),
    ...validateNotNegative(`${at}.TCPEstablishedTimeout`, conntrack.tcpEstablishedTimeout),
    ...validateNotNegative(`${at}.TCPCloseWaitTimeout`, conntrack.tcpCloseWaitTimeout),
    ...validateNotNegative(`${at}.UDPTimeout`, conntrack.udpTimeout),
    ...validateNotNegative(`${at}.UDPStreamTimeout`, conntrack.udpStreamTimeout),
    ...validateRange(`${path}.OOMScoreAdj`, oomScoreAdj, -1000, 1000),
  ];
}
