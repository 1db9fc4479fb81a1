import { configurationObject } from '../config/index.ts';
import {
  type Explanation,
  explain,
  type Facts,
  type KernelFacts,
  parseQuestion,
  QuestionError,
  type QuestionTexts,
} from '../explain/index.ts';
import {
  type ConfigurationAnswer,
  configurationRoute,
  explainRoute,
  historyRoute,
  logRoute,
  metricsRoute,
  planRoute,
  problemsRoute,
  QueryError,
  type Route,
  rulesRoute,
  servicesRoute,
  statusRoute,
} from '../inspect/index.ts';
import { withoutUrlCredentials } from '../lib/secrets.ts';
import { findFlows, findListeners, findOtherRulesOn, probeAll } from '../machine/index.ts';
import { modeSettings, type RunningProxy } from '../proxy/index.ts';
import { proxyStatus } from './proxy-status.ts';
import type { RunParts } from './run.ts';
import type { RunRecord } from './run-record.ts';

/** Every path of the inspection API, about this proxy. */
export function inspectionRoutes(parts: RunParts, proxy: RunningProxy, record: RunRecord): readonly Route[] {
  const { options, observability } = parts;
  const facts = () => factsOf(parts, proxy);
  return [
    statusRoute(() => proxyStatus(parts, proxy, record)),
    problemsRoute(facts),
    servicesRoute({
      facts,
      history: observability.history,
      connectionCounts: async () => await proxy.mode.connectionCounts?.(),
    }),
    historyRoute({ history: observability.history, nodeName: parts.nodeName, objects: parts.objects.lookup }),
    planRoute(facts),
    rulesRoute(facts, (family, plans) => proxy.mode.listing(family, plans)),
    explainRoute(request => explained(request, facts())),
    configurationRoute(() => configurationAnswer(parts)),
    logRoute(() => options.logControl.recentLines()),
    metricsRoute(() => observability.metrics.text()),
  ];
}

/** What an explanation is made from, without copies of it. */
function factsOf({ objects, observability, nodeName, mode, families }: RunParts, proxy: RunningProxy): Facts {
  const { loop, live } = proxy;
  const { state } = loop;
  return {
    origin: 'proxy',
    nodeName,
    families,
    state,
    mode,
    settings: family => modeSettings(state, family, live),
    get interfaceIPs() {
      return live.interfaceIPs();
    },
    objects: objects.lookup,
    get problems() {
      return observability.input.all;
    },
    get setAside() {
      return proxy.mode.setAside();
    },
    isPending: loop.isPending,
    get watches() {
      return objects.watches();
    },
    kernel: kernelFacts(proxy),
  };
}

/** The proxy is in the network namespace of the node, so all of this is about the node. */
function kernelFacts({ mode }: RunningProxy): KernelFacts {
  return {
    readBack: (family, plan) => mode.readBack(family, plan),
    flows: packet => findFlows(packet),
    otherRules: paths => findOtherRulesOn(paths),
    listeners: query => findListeners(query),
    probe: endpoints => probeAll(endpoints),
  };
}

async function explained(request: QuestionTexts, facts: Facts): Promise<Explanation> {
  try {
    return await explain(parseQuestion(request), facts);
  } catch (error) {
    if (error instanceof QuestionError) throw new QueryError(error.message);
    throw error;
  }
}

function configurationAnswer({ options, observability }: RunParts): ConfigurationAnswer {
  const flags = options.flags().map(({ name, value }) => [name, withoutUrlCredentials(value)] as const);
  return {
    configuration: configurationObject(observability.configuration()),
    file: options.configFile,
    flags: Object.fromEntries(flags),
  };
}
