import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { BpfMap } from '../../src/kernel/bpf/index.ts';
import { decodeTarget, encodePool, frontendKey, type MapName } from '../../src/modes/ebpf/programs/index.ts';
import { openDetachedBpffs } from '../support/detached-bpffs.ts';
import { withPinnedLink, withPinnedMap } from '../support/pinned-programs.ts';
import { damageSuite, missing, nftDrop, PINNED } from './damage-suite.ts';
import { address } from './endpoints.ts';

const bpffs = openDetachedBpffs();
after(() => bpffs.close());

const WEB = frontendKey({ family: 'IPv4', ip: address('10.96.0.10'), port: 80 });
/** For a damage that no command does. */
const NO_COMMAND = 'true';

function changing(name: MapName, change: (map: BpfMap) => void): () => string {
  return () => {
    withPinnedMap(bpffs.path, 'connect4', name, change);
    return NO_COMMAND;
  };
}

/** The key of the first pool that the Service uses. */
function poolKey(): Buffer {
  const value = withPinnedMap(bpffs.path, 'connect4', 'frontends4', map => map.lookup(WEB));
  assert.ok(value);
  const key = Buffer.alloc(4);
  key.writeUInt32LE(decodeTarget(value).pool);
  return key;
}

damageSuite(
  'ebpf',
  'ebpf',
  [
    missing(
      'EBPF-84 an element is deleted from a map',
      changing('frontends4', map => map.remove(WEB)),
      /^The kernel differs from the plan: element missing in map frontends4/,
    ),
    missing(
      'EBPF-84 a pool is changed',
      changing('pools', map => map.update(poolKey(), encodePool({ first: 0, count: 1 }))),
      /^The kernel differs from the plan: element different in map pools/,
    ),
    missing(
      'EBPF-84 an endpoint is overwritten',
      changing('slots4', map => map.update(Buffer.alloc(4), Buffer.alloc(8))),
      /^The kernel differs from the plan: element different in map slots4/,
    ),
    missing(
      'EBPF-84 a link is detached',
      () => {
        withPinnedLink(bpffs.path, 'connect4', link => link.detach());
        return NO_COMMAND;
      },
      /^The kernel differs from the plan: link different in control group \S+/,
    ),
    missing(
      'an element of the network is deleted',
      'nft delete element ip kube-proxy service-numbers "{ 10.96.0.10 . tcp . 80 }"',
      /^The kernel differs from the plan: element missing in map ip kube-proxy service-numbers/,
    ),
    nftDrop('forward'),
    PINNED,
  ],
  { sockets: { bpffs: bpffs.path } },
);
