// Elements of an nf_tables map: made, encoded and committed a second, in a network namespace of its own (needs root).
import { NetworkNamespace } from '../src/kernel/netns.ts';
import {
  type DataType,
  dataBytes,
  type Element,
  encodeBatch,
  NftablesSocket,
  type NftMap,
  Transaction,
} from '../src/kernel/nftables/index.ts';
import { median, report } from './support/report.ts';

const ELEMENTS = 100_000;
const REPETITIONS = 7;

const KEY: readonly DataType[] = ['ipv4_addr', 'inet_proto', 'inet_service'];
const TARGET: readonly DataType[] = ['ipv4_addr', 'inet_service'];
const KINDS: readonly { readonly what: string; readonly map: NftMap }[] = [
  { what: 'address . proto . port : address . port', map: { kind: 'map', name: 'endpoints', type: KEY, data: TARGET } },
  {
    what: 'address . proto . port : goto chain',
    map: { kind: 'map', name: 'service-ips', type: KEY, data: ['verdict'] },
  },
];

function makeElements(map: NftMap): Element[] {
  const verdict = { kind: 'goto', chain: 'pick-1' } as const;
  return Array.from({ length: ELEMENTS }, (_, i) => {
    const key = dataBytes(KEY, [`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 'tcp', 80]);
    if (map.data[0] === 'verdict') return { kind: 'element', key, verdict };
    return {
      kind: 'element',
      key,
      data: dataBytes(TARGET, [`10.${128 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`, 8080]),
    };
  });
}

function timed<T>(work: () => T): { result: T; ms: number } {
  const start = performance.now();
  const result = work();
  return { result, ms: performance.now() - start };
}

async function measure({ what, map }: (typeof KINDS)[number]) {
  const times = { make: [] as number[], encode: [] as number[], commit: [] as number[] };
  let bytes = 0;
  for (let i = 0; i < REPETITIONS; i++) {
    const namespace = NetworkNamespace.create();
    const socket = NftablesSocket.open({ namespace });
    try {
      const setup = new Transaction('ip', 'bench').add({ kind: 'table', family: 'ip', name: 'bench' });
      await socket.commit(setup.add({ kind: 'chain', name: 'pick-1' }).add(map));
      const made = timed(() => makeElements(map));
      const transaction = new Transaction('ip', 'bench').addElements(map, made.result);
      const encoded = timed(() => encodeBatch(transaction, 1));
      bytes = encoded.result.bytes.length;
      const start = performance.now();
      await socket.commit(transaction);
      times.make.push(made.ms);
      times.encode.push(encoded.ms);
      // A commit encodes again; what is left is the kernel's.
      times.commit.push(performance.now() - start - encoded.ms);
    } finally {
      socket.close();
      namespace.close();
    }
  }
  const perSecond = (ms: readonly number[]) => Math.round(ELEMENTS / (median(ms) / 1000));
  return {
    map: what,
    elements: ELEMENTS,
    'made/s': perSecond(times.make),
    'encoded/s': perSecond(times.encode),
    'made and encoded/s': Math.round(ELEMENTS / ((median(times.make) + median(times.encode)) / 1000)),
    'kernel commits/s': perSecond(times.commit),
    'bytes/element': Math.round(bytes / ELEMENTS),
  };
}

const rows = [];
for (const kind of KINDS) rows.push(await measure(kind));
report(rows);
