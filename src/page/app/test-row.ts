import type { ServiceRow } from '../../inspect/index.ts';

/** A Service for tests. `key` is `ns/name`. */
export function testRow(key: string, changed: Partial<ServiceRow> = {}): ServiceRow {
  const [namespace = '', name = ''] = key.split('/');
  return {
    namespace,
    name,
    type: 'ClusterIP',
    addresses: ['10.96.0.10'],
    ports: ['80/TCP'],
    endpoints: [{ family: 'IPv4', used: 1, all: 1 }],
    connections: undefined,
    state: 'programmed',
    reasons: [],
    changed: undefined,
    ...changed,
  };
}
