import type { IpvsConfiguration } from '../configuration.ts';
import { validateCidrs } from './cidrs.ts';
import type { FieldError } from './field-error.ts';
import { validateNotNegative } from './numbers.ts';

export function validateIpvs(path: string, ipvs: IpvsConfiguration): FieldError[] {
  return [
    ...validateNotNegative(`${path}.TCPTimeout`, ipvs.tcpTimeout),
    ...validateNotNegative(`${path}.TCPFinTimeout`, ipvs.tcpFinTimeout),
    ...validateNotNegative(`${path}.UDPTimeout`, ipvs.udpTimeout),
    ...validateCidrs(`${path}.ExcludeCidrs`, ipvs.excludeCIDRs ?? [], 'must be a valid CIDR'),
  ];
}
