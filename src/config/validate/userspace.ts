import { goQuote } from '../../lib/go-quote.ts';
import type { UserspaceConfiguration } from '../configuration.ts';
import { parsePortRange } from '../port-range.ts';
import { type FieldError, invalid } from './field-error.ts';
import { validatePositive } from './numbers.ts';

export function validateUserspace(path: string, { portRange, udpIdleTimeout }: UserspaceConfiguration): FieldError[] {
  return [
    ...(parsePortRange(portRange)
      ? []
      : [
          invalid(
            `${path}.PortRange`,
            goQuote(portRange),
            'must be a port, or a range such as 32768-60999 or 32768+100',
          ),
        ]),
    ...(udpIdleTimeout === undefined ? [] : validatePositive(`${path}.UDPIdleTimeout`, udpIdleTimeout)),
  ];
}
