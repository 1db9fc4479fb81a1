import { readFileSync } from 'node:fs';
import type { ConfigurationName } from './situation.ts';

/** What upstream's program answered, in the same network and with the same objects in a real API server. */
const UPSTREAM: Readonly<Record<ConfigurationName, readonly string[]>> = JSON.parse(
  readFileSync('test/localhost/upstream-v1.37.0-rc.1.json', 'utf8'),
);

/** Where we differ on purpose: upstream's line, and ours. */
const DIFFERENCES: ReadonlyMap<string, string> = new Map([
  // Upstream rejects all UDP at loopback.
  ['dns UDP 127.0.0.1: refused', 'dns UDP 127.0.0.1: 10.244.1.10 10.244.1.11'],
  ['dns6 UDP ::1: refused', 'dns6 UDP ::1: fd00:10:244:1::10 fd00:10:244:1::11'],
  // Upstream ends the caller's connection as if the endpoint had ended it.
  ['dead TCP 127.0.0.1: empty', 'dead TCP 127.0.0.1: ECONNRESET'],
]);

/**
 * Upstream's answers with the differences that we want. A configuration in which upstream has a TCP listener of the
 * family is one in which we have a UDP listener, too.
 */
export function expectedAnswers(name: ConfigurationName): readonly string[] {
  const recorded = UPSTREAM[name];
  const serves = (tcp: string) => recorded.some(line => line.startsWith(tcp) && !line.endsWith('refused'));
  const isServed = { IPv4: serves('web TCP 127.0.0.1'), IPv6: serves('web6 TCP ::1') };
  return recorded.map(line => {
    const ours = isServed[line.includes(' ::1:') ? 'IPv6' : 'IPv4'] ? DIFFERENCES.get(line) : undefined;
    return ours ?? line;
  });
}
