import { assemble, type BpfMap, BpfProgram, iterate, readKernelTypes } from '../../../kernel/bpf/index.ts';
import { Breaks } from '../../../lib/breaks.ts';
import { errorText } from '../../../lib/error-text.ts';
import type { ConnectedSocket, SocketReading } from '../../mode.ts';
import { iteratorProgram, type SocketOffsets } from './program.ts';
import { cookieAt, decodeRecord, IpTexts, RECORD_BYTES } from './record.ts';
import { stateName } from './tcp-state.ts';

/** Lists the sockets that the mode led to endpoints. Loads its program with the first reading. */
export class SocketReader {
  /** The cookie of the node's network namespace. */
  readonly #node: bigint;
  #program: BpfProgram | undefined;

  constructor(node: bigint) {
    this.#node = node;
  }

  /** `peers` has what sockets remember. Never rejects: a reading that fails says why. */
  async read(peers: BpfMap): Promise<SocketReading> {
    try {
      this.#program ??= loadIterator();
      const parts = await readParts(this.#program, peers);
      const count = parts.reduce((sum, { length }) => sum + length, 0) / RECORD_BYTES;
      const node = this.#node;
      return { sockets: { [Symbol.iterator]: () => socketsIn(parts, node) }, count };
    } catch (error) {
      return { sockets: [], count: 0, incomplete: `the proxy cannot list sockets: ${errorText(error)}` };
    }
  }

  close(): void {
    this.#program?.close();
    this.#program = undefined;
  }
}

/** The function of the kernel whose place the program takes. Since Linux 5.9. */
const FUNCTION = 'bpf_iter_bpf_sk_storage_map';

function loadIterator(): BpfProgram {
  const types = readKernelTypes();
  if (!types) throw new Error('the kernel publishes no types; use one that is built with CONFIG_DEBUG_INFO_BTF');
  const attachBtfId = types.functionId(FUNCTION);
  if (attachBtfId === undefined) throw new Error(`the kernel has no ${FUNCTION}; use Linux 5.9 or newer`);
  const offsetOf = (member: string) => types.member('sock_common', member)?.offset;
  const offsets = knownOffsets({
    state: offsetOf('skc_state'),
    port: offsetOf('skc_num'),
    address4: offsetOf('skc_rcv_saddr'),
    address6: offsetOf('skc_v6_rcv_saddr'),
  });
  const assembled = assemble(iteratorProgram(offsets));
  const noMaps = (map: string) => {
    throw new Error(`the program has no map ${map}`);
  };
  return BpfProgram.load({ name: 'sockets', hook: 'iterator', assembled, file: 'sockets', attachBtfId }, noMaps);
}

function knownOffsets(found: { readonly [Name in keyof SocketOffsets]: number | undefined }): SocketOffsets {
  const { state, port, address4, address6 } = found;
  if (state === undefined || port === undefined || address4 === undefined) {
    throw new Error("the kernel's types do not say where a socket has its state and its address");
  }
  return { state, port, address4, address6 };
}

/** The event loop runs between the parts. */
async function readParts(program: BpfProgram, peers: BpfMap): Promise<readonly Buffer[]> {
  const breaks = new Breaks();
  const seen = new Set<number>();
  const parts: Buffer[] = [];
  for (const part of iterate(program, peers)) {
    parts.push(withoutSeen(part, seen));
    if (breaks.isDue) await breaks.take();
  }
  return parts;
}

/** If a socket opens between two parts, the kernel repeats another one. */
function withoutSeen(part: Buffer, seen: Set<number>): Buffer {
  const kept = Buffer.allocUnsafe(part.length);
  let length = 0;
  for (let at = 0; at < part.length; at += RECORD_BYTES) {
    const cookie = cookieAt(part, at);
    if (seen.has(cookie)) continue;
    seen.add(cookie);
    length += part.copy(kept, length, at, at + RECORD_BYTES);
  }
  return kept.subarray(0, length);
}

function* socketsIn(parts: readonly Buffer[], node: bigint): Generator<ConnectedSocket, void> {
  const ips = new IpTexts();
  for (const part of parts) {
    for (let at = 0; at < part.length; at += RECORD_BYTES) {
      const record = decodeRecord(part, at, ips);
      if (!record) continue;
      const { namespace, service, endpoint, caller, state } = record;
      yield { service, endpoint, caller, isOfNode: namespace === node, state: stateName(state) };
    }
  }
}
