import type { Facts } from '../explain/index.ts';
import { type NamePattern, parseNamePattern } from '../lib/name-pattern.ts';
import type { SocketReading } from '../modes/index.ts';
import { linesAnswer, objectAnswer } from './answers.ts';
import { type Query, QueryError, type Route } from './route.ts';
import { missingServiceText } from './services-missing.ts';
import { countSockets } from './socket-counts.ts';
import { socketRows } from './socket-names.ts';
import { SOCKET_COUNTS_SCHEMA, SOCKETS_SCHEMA, type SocketsHead } from './socket-rows.ts';

const PARAMETERS = { service: { about: 'NAMESPACE/NAME, NAME in the namespace default, or a glob with * and ?' } };

/** Every socket, one JSON object a line. */
export function socketsRoute(facts: () => Facts): Route {
  return {
    path: '/v1/sockets',
    about: 'the TCP sockets of all network namespaces that the mode led to endpoints, one JSON object a line',
    parameters: PARAMETERS,
    readsKernel: true,
    async answer(query) {
      const { head, reading, now, pattern } = await read(query, facts());
      return linesAnswer(SOCKETS_SCHEMA, socketRows(now, reading, pattern), head);
    },
  };
}

/** How many there are, by Service and endpoint. */
export function socketCountsRoute(facts: () => Facts): Route {
  return {
    path: '/v1/socket-counts',
    about: 'how many TCP sockets the mode led to each endpoint of each Service, and of which callers',
    parameters: PARAMETERS,
    readsKernel: true,
    async answer(query) {
      const { head, reading, now, pattern } = await read(query, facts());
      const counts = await countSockets(socketRows(now, reading, pattern));
      return objectAnswer(SOCKET_COUNTS_SCHEMA, { ...head, ...counts });
    },
  };
}

interface Question {
  readonly now: Facts;
  readonly pattern: NamePattern | undefined;
  readonly head: SocketsHead;
  readonly reading: SocketReading;
}

const NOTHING: SocketReading = { sockets: [], count: 0 };

async function read(query: Query, now: Facts): Promise<Question> {
  const text = query.get('service') ?? '';
  const pattern = text === '' ? undefined : parseNamePattern(text);
  if (pattern?.isExact && !now.objects.service(pattern.text)) {
    throw new QueryError(await missingServiceText(pattern.text, now.objects.services()));
  }
  const reading = await now.kernel?.sockets?.();
  const { name: mode } = now.mode.descriptor;
  const note = reading ? reading.incomplete : elsewhere(mode);
  const head = {
    node: now.nodeName,
    mode,
    isAvailable: reading !== undefined,
    ...(note === undefined ? {} : { note }),
  };
  return { now, pattern, head, reading: reading ?? NOTHING };
}

function elsewhere(mode: string): string {
  return `the mode ${mode} does not lead sockets to endpoints. To see connections, run conntrack -L on the node`;
}
