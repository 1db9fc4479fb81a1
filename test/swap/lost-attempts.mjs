import { readFileSync } from 'node:fs';

/**
 * How often the kernel of a network namespace had to send the first packet of a connection again.
 * @param {{ run<T>(work: () => T): T }} [namespace] the default is that of this process
 */
export function lostAttempts(namespace) {
  const read = () => readFileSync('/proc/thread-self/net/netstat', 'utf8');
  const [names = [], values = []] = (namespace?.run(read) ?? read())
    .split('\n')
    .filter(line => line.startsWith('TcpExt:'))
    .map(line => line.split(' '));
  return Number(values[names.indexOf('TCPSynRetrans')]);
}
