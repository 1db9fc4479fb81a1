import { ERROR_SCHEMA } from '../../inspect/index.ts';
import { errorText } from '../../lib/error-text.ts';
import { isRecord } from '../../lib/is-record.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { TOKEN_HEADER } from '../token.ts';
import type { FleetAnswer, FleetClient } from './client.ts';
import type { Member } from './members.ts';
import type { PageTarget } from './page-target.ts';
import type { SilenceKind, SilentNode } from './rows.ts';

export interface AskNodeOptions {
  readonly client: FleetClient;
  readonly namespace: string;
  /** The token of the nodes' pages. */
  readonly token?: string | undefined;
  readonly timeoutMs: number;
}

const MAX_BYTES = 16 << 20;

type Fields = Readonly<Record<string, unknown>>;

/** An answer with the expected schema, or the error that a proxy sends. */
export interface NodeAnswer {
  readonly pod: string;
  readonly milliseconds: number;
  readonly status: number;
  readonly body: Fields;
}

/**
 * Asks the page of a node through the API server. `path` is `/v1/status`. Answers are those of the schema, and the
 * errors of a proxy whose status is in `accepted`.
 */
export async function askNode(
  options: AskNodeOptions,
  { node, proxy }: Member,
  { path, schema, accepted = [] }: { path: string; schema: string; accepted?: readonly number[] },
  signal: AbortSignal,
): Promise<NodeAnswer | SilentNode> {
  const silent = (kind: SilenceKind, reason: string): SilentNode => ({
    node,
    pod: proxy?.name,
    silence: { kind, reason },
  });
  if (!proxy) return silent('noProxy', 'the node has no proxy pod of the selector');
  const { name: pod, phase, page } = proxy;
  if (phase !== 'Running') return silent('notRunning', `the pod is ${phase || 'not running'}`);
  if (page === 'none') return silent('noPage', 'the pod has no flag --page-bind-address');
  if (page === 'loopback') return silent('noPage', 'the page listens only at a loopback address of the node');
  const started = performance.now();
  const late = AbortSignal.timeout(options.timeoutMs);
  try {
    const answer = await request(options, pod, page, path, AbortSignal.any([signal, late]));
    const body = bodyOf(answer);
    const isExpected = answer.status === 200 && body.schema === schema;
    if (isExpected || (body.schema === ERROR_SCHEMA && accepted.includes(answer.status))) {
      return { pod, milliseconds: Math.round(performance.now() - started), status: answer.status, body };
    }
    const { kind, reason } = refusal(answer, body, options.namespace);
    return silent(kind, reason);
  } catch (error) {
    if (late.aborted) return silent('timeout', `no answer within ${options.timeoutMs / 1000} s`);
    return silent('failed', errorText(error));
  }
}

function request(
  { client, namespace, token }: AskNodeOptions,
  pod: string,
  { scheme, port }: PageTarget,
  path: string,
  signal: AbortSignal,
): Promise<FleetAnswer> {
  return client.get({
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${scheme}:${encodeURIComponent(pod)}:${port}/proxy${path}`,
    accept: 'application/json, */*',
    headers: token === undefined ? {} : { [TOKEN_HEADER.toLowerCase()]: token },
    maxBytes: MAX_BYTES,
    signal,
  });
}

/** The words of the API server if nothing listens at the address. */
const NOTHING_LISTENS = /connection refused/;
const UNREACHABLE = /trying to reach service/i;

function bodyOf({ text }: FleetAnswer): Fields {
  try {
    const body = parseJson(text);
    return isRecord(body) ? body : {};
  } catch {
    return {};
  }
}

function refusal({ status, text }: FleetAnswer, body: Fields, namespace: string): SilentNode['silence'] {
  if (body.schema === ERROR_SCHEMA) return pageRefusal(status, String(body.error));
  const message = body.kind === 'Status' ? String(body.message) : text.slice(0, 300);
  const isFromServer = body.kind === 'Status' || UNREACHABLE.test(message);
  if (!isFromServer) {
    return { kind: 'otherProgram', reason: `the answer (status ${status}) is not from a Pointsman proxy` };
  }
  if (status === 403) {
    const right = `the user needs the right to get pods/proxy in the namespace ${namespace}`;
    return { kind: 'forbidden', reason: `${right}: ${message}` };
  }
  if (NOTHING_LISTENS.test(message)) return { kind: 'noPage', reason: `no page listens there: ${message}` };
  return { kind: /timeout|deadline/.test(message) ? 'timeout' : 'failed', reason: message };
}

function pageRefusal(status: number, error: string): SilentNode['silence'] {
  if (status === 401) return { kind: 'token', reason: `the page does not accept the token: ${error}` };
  if (status === 404) return { kind: 'otherProgram', reason: 'the proxy is older and does not know this question' };
  return { kind: 'failed', reason: error };
}
