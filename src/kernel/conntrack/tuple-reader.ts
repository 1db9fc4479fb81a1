import type { Ip } from '../../net/index.ts';
import { align } from '../netlink/index.ts';
import { readIpv4, readIpv6 } from './address.ts';
import { CtaIp, CtaProto, CtaTuple, TYPE_MASK } from './attributes.ts';
import { L4 } from './protocol.ts';
import type { FlowTuple } from './tuple.ts';

/**
 * Reads one tuple after another. The reader keeps what it has read of a tuple in its own fields. It runs twice for
 * every flow of a table that may hold a million flows, and an object for each nested attribute would cost more than
 * reading it.
 */
export class TupleReader {
  /** The layer 4 protocol of the tuple that was read last, or undefined if that tuple had none. */
  protocol: number | undefined;
  #src: Ip | undefined;
  #dst: Ip | undefined;
  #srcPort = 0;
  #dstPort = 0;
  #icmpType = 0;
  #icmpCode = 0;
  #icmpId = 0;
  #zone: number | undefined;

  /** Reads the attributes between `start` and `end`. Returns undefined if an address is missing. */
  read(bytes: Buffer, start: number, end: number): FlowTuple | undefined {
    this.#clear();
    for (let at = start; at + 4 <= end; ) {
      const header = bytes.readInt32LE(at);
      const length = header & 0xffff;
      if (length < 4 || at + length > end) break;
      const type = (header >>> 16) & TYPE_MASK;
      if (type === CtaTuple.IP) this.#readIp(bytes, at + 4, at + length);
      else if (type === CtaTuple.PROTO) this.#readProto(bytes, at + 4, at + length);
      else if (type === CtaTuple.ZONE && length >= 6) this.#zone = bytes.readUInt16BE(at + 4);
      at += align(length);
    }
    const src = this.#src;
    const dst = this.#dst;
    if (src === undefined || dst === undefined) return undefined;
    const icmp = isIcmp(this.protocol) ? { type: this.#icmpType, code: this.#icmpCode, id: this.#icmpId } : undefined;
    return { src, dst, srcPort: this.#srcPort, dstPort: this.#dstPort, icmp, zone: this.#zone };
  }

  #clear(): void {
    this.protocol = undefined;
    this.#src = undefined;
    this.#dst = undefined;
    this.#srcPort = 0;
    this.#dstPort = 0;
    this.#icmpType = 0;
    this.#icmpCode = 0;
    this.#icmpId = 0;
    this.#zone = undefined;
  }

  #readIp(bytes: Buffer, start: number, end: number): void {
    for (let at = start; at + 8 <= end; ) {
      const header = bytes.readInt32LE(at);
      const length = header & 0xffff;
      if (length < 8 || at + length > end) return;
      const type = (header >>> 16) & TYPE_MASK;
      if (type === CtaIp.V4_SRC) this.#src = readIpv4(bytes, at + 4);
      else if (type === CtaIp.V4_DST) this.#dst = readIpv4(bytes, at + 4);
      else if (type === CtaIp.V6_SRC && length >= 20) this.#src = readIpv6(bytes, at + 4);
      else if (type === CtaIp.V6_DST && length >= 20) this.#dst = readIpv6(bytes, at + 4);
      at += align(length);
    }
  }

  #readProto(bytes: Buffer, start: number, end: number): void {
    for (let at = start; at + 5 <= end; ) {
      const header = bytes.readInt32LE(at);
      const length = header & 0xffff;
      if (length < 5 || at + length > end) return;
      const type = (header >>> 16) & TYPE_MASK;
      if (type === CtaProto.NUM) this.protocol = bytes.readUInt8(at + 4);
      else if (type === CtaProto.SRC_PORT && length >= 6) this.#srcPort = bytes.readUInt16BE(at + 4);
      else if (type === CtaProto.DST_PORT && length >= 6) this.#dstPort = bytes.readUInt16BE(at + 4);
      else if (type >= CtaProto.ICMP_ID) this.#readIcmp(type, length, bytes, at + 4);
      at += align(length);
    }
  }

  #readIcmp(type: number, length: number, bytes: Buffer, at: number): void {
    switch (type) {
      case CtaProto.ICMP_ID:
      case CtaProto.ICMPV6_ID:
        if (length >= 6) this.#icmpId = bytes.readUInt16BE(at);
        break;
      case CtaProto.ICMP_TYPE:
      case CtaProto.ICMPV6_TYPE:
        this.#icmpType = bytes.readUInt8(at);
        break;
      case CtaProto.ICMP_CODE:
      case CtaProto.ICMPV6_CODE:
        this.#icmpCode = bytes.readUInt8(at);
        break;
    }
  }
}

function isIcmp(protocol: number | undefined): boolean {
  return protocol === L4.ICMP || protocol === L4.ICMPV6;
}
