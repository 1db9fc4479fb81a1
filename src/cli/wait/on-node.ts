import { reachesVersion } from '../../api/index.ts';
import { PROGRAMMED_SCHEMA, type ProgrammedAnswer, ProxyClientError } from '../../inspect/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { isRecord } from '../../lib/is-record.ts';
import { sleep } from '../../lib/sleep.ts';
import type { ProxySocket } from '../proxy-socket.ts';
import type { MissingNode } from './report.ts';
import type { Target } from './target.ts';

export interface NodeWait {
  readonly socket: ProxySocket;
  /** `namespace/name` */
  readonly service: string;
  /** Undefined: what the proxy has received when the wait begins. */
  readonly target: Target | undefined;
  /** Aborts when the time is over. */
  readonly timeUp: AbortSignal;
}

const POLL_MS = 100;

/** Waits until the proxy of this node has the Service in the kernel. Returns undefined, or what is missing. */
export async function waitOnNode(wait: NodeWait): Promise<MissingNode | undefined> {
  const { service, target, timeUp } = wait;
  let answer = await ask(wait);
  const wanted = target ?? answer.received;
  // While the proxy does not know a version, only an empty queue shows that the kernel has everything.
  const hasVersions = target !== undefined || (wanted.services !== undefined && wanted.endpointSlices !== undefined);
  for (;;) {
    const missing = missingIn(answer, hasVersions ? wanted : undefined, service);
    if (!missing || missing.cause === 'set-aside' || timeUp.aborted) return missing;
    await sleep(POLL_MS, systemClock, timeUp);
    // The proxy may be restarting. The time limit ends the wait for it.
    answer = await ask(wait).catch(error => {
      if (error instanceof ProxyClientError && error.kind === 'no-socket') return answer;
      throw error;
    });
  }
}

function missingIn(
  answer: ProgrammedAnswer,
  wanted: ProgrammedAnswer['programmed'] | undefined,
  service: string,
): MissingNode | undefined {
  const { node, programmed, pending, setAside, service: asked } = answer;
  if (!asked?.known)
    return { node, cause: 'unknown', message: `the proxy does not know the Service ${service}, or it is headless` };
  const has = (name: 'services' | 'endpointSlices') => {
    const version = wanted?.[name];
    return version === undefined || reachesVersion(programmed[name], version);
  };
  if (wanted ? !has('services') || !has('endpointSlices') : pending) {
    const { services = 'none', endpointSlices = 'none' } = programmed;
    const message = `the kernel has Services up to version ${services} and EndpointSlices up to version ${endpointSlices}`;
    return { node, cause: 'behind', message };
  }
  const [aside] = setAside;
  return aside && { node, cause: 'set-aside', message: `port ${aside.port || aside.protocol}: ${aside.message}` };
}

async function ask({ socket, service }: NodeWait): Promise<ProgrammedAnswer> {
  const answer = await socket.ask(`/v1/programmed?${new URLSearchParams({ service })}`);
  if (!isProgrammedAnswer(answer)) throw new Error(`the proxy at ${socket.path} does not say what it has programmed`);
  return answer;
}

/** The schema says that the other fields are there. */
function isProgrammedAnswer(answer: unknown): answer is ProgrammedAnswer {
  return isRecord(answer) && answer.schema === PROGRAMMED_SCHEMA;
}
