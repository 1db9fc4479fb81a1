import {
  linesAnswer,
  type ProxyStatus,
  QueryError,
  type Route,
  SERVICE_SCHEMA,
  type ServiceDetail,
  STATUS_SCHEMA,
} from '../../inspect/index.ts';
import { asCompleted } from './as-completed.ts';
import { type AskNodeOptions, askNode, type NodeAnswer } from './ask-node.ts';
import { listMembers, type Member, type MembersOptions } from './members.ts';
import {
  FLEET_SCHEMA,
  FLEET_SERVICE_SCHEMA,
  type FleetRow,
  type FleetServiceRow,
  type KnownService,
  type SilentNode,
  type UsedEndpoints,
} from './rows.ts';
import { digestOf, knownService, usedEndpoints } from './service-contents.ts';
import { statusRow } from './status-row.ts';

export interface FleetOptions extends MembersOptions {
  /** Reads the token of the nodes' pages. Undefined if they have none. */
  readonly token: () => Promise<string | undefined>;
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 5000;
const MAX_REQUESTS = 16;

/** The paths about all nodes of a cluster. */
export function fleetRoutes(options: FleetOptions): readonly Route[] {
  return [
    {
      path: '/v1/fleet',
      about: 'how the proxy of each node is, one JSON object a line, as the answers come',
      answer: ({ disconnected }) => askAll(FLEET_SCHEMA, options, disconnected, askStatus),
    },
    {
      path: '/v1/fleet/service',
      about: 'one Service on each node, one JSON object a line, as the answers come',
      parameters: { name: { about: 'NAMESPACE/NAME', isRequired: true } },
      answer(query) {
        const name = query.get('name') ?? '';
        if (!/^[^/]+\/[^/]+$/.test(name)) throw new QueryError('the parameter "name" must be NAMESPACE/NAME');
        return askAll(FLEET_SERVICE_SCHEMA, options, query.disconnected, serviceQuestion(name));
      },
    },
  ];
}

type Question<Row> = (options: AskNodeOptions, member: Member, signal: AbortSignal) => Promise<Row>;

async function askAll<Row extends object>(
  schema: string,
  options: FleetOptions,
  disconnected: AbortSignal,
  ask: Question<Row>,
) {
  const { client, namespace, timeoutMs = TIMEOUT_MS } = options;
  const { members, notes } = await listMembers(options, disconnected);
  const askOptions = { client, namespace, timeoutMs, token: await options.token() };
  const rows = asCompleted(members, MAX_REQUESTS, member => ask(askOptions, member, disconnected));
  return linesAnswer(schema, rows, { nodes: members.length, notes });
}

const askStatus: Question<FleetRow> = async (options, member, signal) => {
  const answer = await askNode(options, member, { path: '/v1/status', schema: STATUS_SCHEMA }, signal);
  return rowOf(member, answer, ({ body }) => statusRow(body as unknown as ProxyStatus));
};

/** Contents are sent once for each digest: in most clusters all nodes know the same. */
function serviceQuestion(name: string): Question<FleetServiceRow> {
  const sent = new Set<string>();
  const path = `/v1/service?name=${encodeURIComponent(name)}`;
  return async (options, member, signal) => {
    const answer = await askNode(options, member, { path, schema: SERVICE_SCHEMA, accepted: [404] }, signal);
    return rowOf(member, answer, ({ status, body }) => {
      if (status !== 200) return { contents: {} };
      const detail = body as unknown as ServiceDetail;
      const { state, reasons, changed, endpoints } = detail.row;
      const contents: Record<string, KnownService | UsedEndpoints> = {};
      const [known, used] = [knownService(detail), usedEndpoints(detail)].map(content => {
        const digest = digestOf(content);
        if (!sent.has(digest)) contents[digest] = content;
        sent.add(digest);
        return digest;
      });
      return { row: { state, reasons, changed, endpoints }, known, used, contents };
    });
  };
}

/** The proxy of a node may be of another version, or another program. Whatever it sends must not break the list. */
function rowOf<Row extends object>(
  { node }: Member,
  answer: NodeAnswer | SilentNode,
  read: (answer: NodeAnswer) => Row,
): (Row & { node: string; pod: string; milliseconds: number }) | SilentNode {
  if ('silence' in answer) return answer;
  const { pod, milliseconds } = answer;
  try {
    return { node, pod, milliseconds, ...read(answer) };
  } catch {
    return { node, pod, silence: { kind: 'otherProgram', reason: 'the answer lacks fields that this page reads' } };
  }
}
