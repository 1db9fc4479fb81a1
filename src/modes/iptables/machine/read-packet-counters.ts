import { KernelError } from '../../../kernel/errors.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { NfacctSocket } from '../../../kernel/nfacct/index.ts';
import type { CounterName } from '../rules/rule-options.ts';

/** Any name can test whether the kernel has counters at all. */
const PROBE = 'IMayExist';

/** Reads the packets that the kernel counted for rules of this mode. */
export class PacketCounters {
  readonly #socket: NfacctSocket;

  private constructor(socket: NfacctSocket) {
    this.#socket = socket;
  }

  /** Throws a `KernelError` if the kernel has no nfacct counters. */
  static open(namespace?: NetworkNamespace): PacketCounters {
    const socket = NfacctSocket.open({ namespace });
    try {
      socket.get(PROBE);
      return new PacketCounters(socket);
    } catch (error) {
      socket.close();
      throw error;
    }
  }

  /** 0 as long as the counter does not exist. */
  packets(name: CounterName): number {
    try {
      return Number(this.#socket.get(name)?.packets ?? 0n);
    } catch (error) {
      if (error instanceof KernelError) return 0;
      throw error;
    }
  }

  close(): void {
    this.#socket.close();
  }
}
