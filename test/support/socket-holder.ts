import { spawn } from 'node:child_process';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { HeldProcess } from './held-process.ts';

/** The user id of `nobody`. */
export const NOBODY = 65534;

/**
 * Binds every name of its arguments as an abstract unix socket, says so, and lives until its input ends. It is Perl,
 * because Node 20 pads such names with zero bytes.
 */
const HOLD = `
  for my $name (@ARGV) {
    socket($held{$name}, 1, 1, 0) && bind($held{$name}, pack("Sa*", 1, "\\0$name")) or die "$name: $!";
  }
  $| = 1;
  print "bound";
  <STDIN>;
`;

/** Starts a process of another user that holds the names of abstract unix sockets. */
export function holdSockets(namespace: NetworkNamespace, names: readonly string[], uid = NOBODY): Promise<HeldProcess> {
  return HeldProcess.of(
    namespace.run(() =>
      spawn('perl', ['-e', HOLD, '--', ...names], { uid, gid: uid, cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] }),
    ),
  );
}
