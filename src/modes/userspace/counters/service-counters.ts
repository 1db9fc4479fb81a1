import type { ServiceCounters } from '../../mode.ts';

export type PortCounters = Omit<ServiceCounters, 'family' | 'servicePort' | 'protocol'>;

export type MutableCounters = { -readonly [name in keyof PortCounters]: number };

export function newCounters(): MutableCounters {
  return { connections: 0, active: 0, bytesIn: 0, bytesOut: 0, dialFailures: 0, failures: 0 };
}
