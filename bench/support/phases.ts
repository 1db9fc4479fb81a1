import { NetlinkSocket } from '../../src/kernel/netlink/index.ts';
import { NftablesSocket } from '../../src/kernel/nftables/index.ts';

/**
 * How long the commits of this process took, in milliseconds: the total, and the part in which the kernel worked. The
 * rest is encoding. While the kernel works on a large commit, the thread of the program is idle.
 */
export class CommitTimes {
  commits = 0;
  kernel = 0;
  bytes = 0;

  static watch(): CommitTimes {
    const times = new CommitTimes();
    const { commit } = NftablesSocket.prototype;
    NftablesSocket.prototype.commit = async function (...args) {
      const start = performance.now();
      try {
        return await commit.apply(this, args);
      } finally {
        times.commits += performance.now() - start;
      }
    };
    const { exchange } = NetlinkSocket.prototype;
    NetlinkSocket.prototype.exchange = async function (...args) {
      const start = performance.now();
      try {
        return await exchange.apply(this, args);
      } finally {
        times.kernel += performance.now() - start;
        times.bytes += args[0].length;
      }
    };
    return times;
  }

  get encode(): number {
    return this.commits - this.kernel;
  }

  reset(): void {
    this.commits = 0;
    this.kernel = 0;
    this.bytes = 0;
  }
}
