import type { Flow } from '../kernel/conntrack/index.ts';
import type { Connection } from '../plan/index.ts';

/** Where the client of a tracked flow sends, and the endpoint that answers. */
export function flowEnds({ original, reply }: Flow): Connection {
  return {
    destination: { ip: original.dst, port: original.dstPort },
    answeredBy: { ip: reply.src, port: reply.srcPort },
  };
}
