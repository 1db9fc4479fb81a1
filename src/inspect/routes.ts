import { explain, type Facts, parseQuestion, QuestionError, type QuestionTexts } from '../explain/index.ts';
import type { History } from '../history/index.ts';
import type { ServicePortTraffic } from '../modes/index.ts';
import type { ProgrammedState } from '../proxy/index.ts';
import { explainRoute } from './explain.ts';
import { historyRoute } from './history.ts';
import { kernelRoute } from './kernel.ts';
import { liveRoute } from './live.ts';
import { LiveHub } from './live-hub.ts';
import { planRoute } from './plan.ts';
import { problemsRoute } from './problems.ts';
import { programmedRoute } from './programmed.ts';
import type { PulseRecorder } from './pulse.ts';
import { QueryError, type Route } from './route.ts';
import { type ListRules, rulesRoute } from './rules.ts';
import { searchRoute } from './search.ts';
import { serviceRoute } from './service.ts';
import { servicesRoute } from './services.ts';
import { socketCountsRoute, socketsRoute } from './sockets.ts';
import { type ProxyStatus, statusRoute } from './status.ts';
import { type ConfigurationAnswer, configurationRoute, logRoute, metricsRoute } from './texts.ts';
import { trafficRoute } from './traffic.ts';

/** A running proxy, as far as the inspection API shows it. */
export interface InspectedProxy {
  readonly nodeName: string;
  /** The facts of this moment. */
  facts(): Facts;
  readonly history: History;
  status(): ProxyStatus;
  readonly pulse: PulseRecorder;
  /** Undefined if the mode does not count connections. */
  connectionCounts(): Promise<ReadonlyMap<string, number> | undefined>;
  /** Undefined if the mode does not count. */
  traffic?(): Promise<readonly ServicePortTraffic[] | undefined>;
  /** What the mode wants in the kernel, with the rules of these plans. */
  readonly listing: ListRules;
  /** What only a daemon has. */
  readonly daemon?: {
    configuration(): ConfigurationAnswer;
    logLines(): readonly string[];
    metrics(): Promise<string>;
    programmed(): ProgrammedState;
  };
}

export interface Inspection {
  readonly routes: readonly Route[];
  readonly live: LiveHub;
}

/** Every path of the inspection API, about one proxy. */
export function inspect(proxy: InspectedProxy): Inspection {
  const { history, nodeName, daemon } = proxy;
  const facts = () => proxy.facts();
  const live = new LiveHub(proxy);
  const routes = [
    statusRoute(() => proxy.status()),
    problemsRoute(facts),
    servicesRoute({
      facts,
      history,
      // Pages that list at the same time do not read the counters again.
      connectionCounts: async () => live.lastCounts ?? (await proxy.connectionCounts()),
      traffic: async () => await proxy.traffic?.(),
    }),
    serviceRoute({ facts, history, lastCounts: () => live.lastCounts }),
    kernelRoute(facts),
    trafficRoute(async () => await proxy.traffic?.()),
    socketsRoute(facts),
    socketCountsRoute(facts),
    searchRoute(facts),
    liveRoute(live),
    historyRoute({ history, nodeName, objects: facts().objects }),
    planRoute(facts),
    rulesRoute(facts, proxy.listing),
    explainRoute(request => explained(request, facts())),
    ...(daemon
      ? [
          programmedRoute(facts, () => daemon.programmed()),
          configurationRoute(() => daemon.configuration()),
          logRoute(() => daemon.logLines()),
          metricsRoute(() => daemon.metrics()),
        ]
      : []),
  ];
  return { routes, live };
}

async function explained(request: QuestionTexts, facts: Facts) {
  try {
    return await explain(parseQuestion(request), facts);
  } catch (error) {
    if (error instanceof QuestionError) throw new QueryError(error.message);
    throw error;
  }
}
