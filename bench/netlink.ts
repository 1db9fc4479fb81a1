// Measures the elements of an nf_tables map: how many a second are made, encoded, and committed by the kernel. Works in
// its own network namespaces. Needs root.
//   --elements N        how many elements a transaction has (100000)
import { parseArgs } from 'node:util';
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
import { COMMON_FLAGS } from './support/flags.ts';
import { median, perSecond, report } from './support/report.ts';

const REPETITIONS = 7;
const KEY: readonly DataType[] = ['ipv4_addr', 'inet_proto', 'inet_service'];
const TARGET: readonly DataType[] = ['ipv4_addr', 'inet_service'];
const MAPS: readonly { readonly name: string; readonly map: NftMap }[] = [
  { name: 'address . proto . port : address . port', map: { kind: 'map', name: 'endpoints', type: KEY, data: TARGET } },
  {
    name: 'address . proto . port : goto chain',
    map: { kind: 'map', name: 'service-ips', type: KEY, data: ['verdict'] },
  },
];

const { values: flags } = parseArgs({
  options: { ...COMMON_FLAGS, elements: { type: 'string', default: '100000' } },
});
const elementCount = Number(flags.elements);

async function main(): Promise<void> {
  const rows = [];
  for (const { name, map } of MAPS) rows.push({ map: name, ...(await measure(map)) });
  report(rows);
}

async function measure(map: NftMap) {
  const runs = [];
  for (let i = 0; i < REPETITIONS; i++) runs.push(await run(map));
  const make = median(runs.map(each => each.make));
  const encode = median(runs.map(each => each.encode));
  return {
    elements: elementCount,
    'made/s': perSecond(elementCount, make),
    'encoded/s': perSecond(elementCount, encode),
    'made and encoded/s': perSecond(elementCount, make + encode),
    'kernel commits/s': perSecond(elementCount, median(runs.map(each => each.commit))),
    'bytes/element': Math.round((runs[0]?.bytes ?? Number.NaN) / elementCount),
  };
}

/** Commits all elements once. Returns the milliseconds of each phase. */
async function run(map: NftMap) {
  const namespace = NetworkNamespace.create();
  const socket = NftablesSocket.open({ namespace });
  try {
    const setup = new Transaction('ip', 'bench').add({ kind: 'table', family: 'ip', name: 'bench' });
    await socket.commit(setup.add({ kind: 'chain', name: 'pick-1' }).add(map));
    const made = timed(() => makeElements(map));
    const transaction = new Transaction('ip', 'bench').addElements(map, made.result);
    const encoded = timed(() => encodeBatch(transaction, 1));
    const start = performance.now();
    await socket.commit(transaction);
    // A commit encodes once more. The rest of its time is the kernel's.
    const commit = performance.now() - start - encoded.ms;
    return { make: made.ms, encode: encoded.ms, commit, bytes: encoded.result.bytes.length };
  } finally {
    socket.close();
    namespace.close();
  }
}

function makeElements(map: NftMap): Element[] {
  const verdict = { kind: 'goto', chain: 'pick-1' } as const;
  return Array.from({ length: elementCount }, (_, i) => {
    const key = dataBytes(KEY, [`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 'tcp', 80]);
    if (map.data[0] === 'verdict') return { kind: 'element', key, verdict };
    const target = `10.${128 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;
    return { kind: 'element', key, data: dataBytes(TARGET, [target, 8080]) };
  });
}

function timed<T>(work: () => T): { readonly result: T; readonly ms: number } {
  const start = performance.now();
  const result = work();
  return { result, ms: performance.now() - start };
}

await main();
