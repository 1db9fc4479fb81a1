import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';

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

/** A process of another user that holds the names of abstract unix sockets. */
export class SocketHolder {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(namespace: NetworkNamespace, names: readonly string[], uid = NOBODY): Promise<SocketHolder> {
    const child = namespace.run(() =>
      spawn('perl', ['-e', HOLD, '--', ...names], {
        uid,
        gid: uid,
        cwd: '/',
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([status]) => Promise.reject(new Error(`could not hold the names: status ${status}`))),
    ]);
    return new SocketHolder(child);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
  }
}
