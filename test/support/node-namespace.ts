import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { runIn } from './run-in.ts';

/** The node of the recorded cases. Its addresses are on its loopback interface, for tests that send no packets. */
export function nodeNamespace(): NetworkNamespace {
  const namespace = NetworkNamespace.create();
  const script = ['link set lo up', 'addr add 192.168.0.2/24 dev lo', 'addr add fd00:192:168::2/64 dev lo nodad'];
  runIn(namespace, 'ip', ['-batch', '-'], script.map(line => `${line}\n`).join(''));
  return namespace;
}
