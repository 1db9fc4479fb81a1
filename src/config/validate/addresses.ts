import { goQuote } from '../../lib/go-quote.ts';
import { parseIp } from '../../net/index.ts';
import type { Configuration } from '../configuration.ts';
import { splitHostPort } from '../host-port.ts';
import { type FieldError, invalid } from './field-error.ts';

export function validateAddresses(path: string, configuration: Configuration): FieldError[] {
  const { bindAddress, healthzBindAddress, metricsBindAddress } = configuration;
  return [
    ...validateBindAddress(`${path}.BindAddress`, bindAddress),
    // Without an address there is no health server. There are always metrics.
    ...(healthzBindAddress === '' ? [] : validateHostPort(`${path}.HealthzBindAddress`, healthzBindAddress)),
    ...validateHostPort(`${path}.MetricsBindAddress`, metricsBindAddress),
  ];
}

function validateBindAddress(path: string, address: string): FieldError[] {
  if (parseIp(address) !== undefined) return [];
  return [invalid(path, goQuote(address), 'not a valid textual representation of an IP address')];
}

function validateHostPort(path: string, text: string): FieldError[] {
  const parts = splitHostPort(text);
  if (!parts) return [invalid(path, goQuote(text), 'must be IP:port')];
  const errors: FieldError[] = [];
  if (parseIp(parts.host) === undefined) errors.push(invalid(path, goQuote(parts.host), 'must be a valid IP'));
  const port = /^[-+]?[0-9]+$/.test(parts.port) ? Number(parts.port) : 0;
  if (port < 1 || port > 65535) errors.push(invalid(path, goQuote(parts.port), 'must be a valid port'));
  return errors;
}
