import type { Endpoint } from '../../model/index.ts';
import type { ModeBehaviour } from '../../modes/index.ts';
import type { Ip } from '../../net/index.ts';
import type { Frontend } from '../../plan/index.ts';
import type { Remark, SeenAs } from '../outcome.ts';
import { detectorText, isDetectedPod } from './local-caller.ts';
import type { OutcomeContext, Question } from './question.ts';

/** What an endpoint sees as the source of a connection, and why. */
export interface SeenSource {
  readonly seenAs: SeenAs;
  /** Undefined if the kernel chooses an address of the node. */
  readonly ip: Ip | undefined;
  readonly remark: Remark;
}

/** The source that an endpoint of the frontend sees. */
export function seenSource(
  frontend: Frontend,
  endpoint: Endpoint,
  question: Question,
  context: OutcomeContext,
): SeenSource {
  const { caller } = question;
  const { behaviour } = context.mode;
  if (behaviour.isRelay) return asNode('relay', 'the proxy itself connects to the endpoint, so endpoints see the node');
  if (caller.place === 'node') return ownSource(frontend, question, context);
  if (context.nodeIPs.includes(endpoint.ip)) {
    const text = `${endpoint.ip} is an address of the node: packets to it do not leave the node and keep their source`;
    return { seenAs: 'itself', ip: caller.ip, remark: { code: 'endpoint-on-node', text } };
  }
  if (endpoint.ip === caller.ip) {
    return asNode(
      'hairpin',
      `${endpoint.text} calls itself: it sees an address of the node, so that its answer comes back through the node`,
    );
  }
  return masqueraded(frontend, question, context) ?? keptSource(frontend, question, context);
}

function ownSource(frontend: Frontend, question: Question, { mode }: OutcomeContext): SeenSource {
  const isMasqueraded = frontend.kind === 'ClusterIP' || frontend.policy === 'Cluster';
  if (mode.behaviour.ownSource === 'interface' || isMasqueraded) {
    return ownConnection(question, mode.behaviour);
  }
  const { ip } = question.destination;
  const text = `the node has ${ip} itself and connects from it; endpoints need a route back to ${ip} through this node`;
  return { seenAs: 'node', ip, remark: { code: 'own-connection-from-service-ip', text } };
}

/** The kernel chooses the address of the node that is nearest to the endpoint. */
export function nodeSource(): SeenSource {
  return asNode('own-connection', 'the node itself connects, so endpoints see one of its addresses');
}

function ownConnection({ destination }: Question, { keepsNodeSourcePorts = false }: ModeBehaviour): SeenSource {
  const source = nodeSource();
  if (!keepsNodeSourcePorts || destination.protocol !== 'TCP') return source;
  const text = `${source.remark.text} and the source port of the caller, if that is free`;
  return { ...source, remark: { ...source.remark, text } };
}

function masqueraded(frontend: Frontend, { caller }: Question, { settings }: OutcomeContext): SeenSource | undefined {
  const { localDetector } = settings;
  switch (frontend.masquerade) {
    case 'always':
      return frontend.kind === 'ClusterIP'
        ? asNode('masquerade-all', 'masqueradeAll: the node replaces the source of every connection to a cluster IP')
        : asNode(
            'masquerade-external',
            'externalTrafficPolicy is Cluster: the node replaces the source, so that answers come back through it',
          );
    case 'from-outside': {
      if (isDetectedPod(caller, localDetector)) return undefined;
      const why = `${caller.ip} does not count as a pod (${detectorText(localDetector)})`;
      return asNode('masquerade-outside', `${why}, so the node replaces the source`);
    }
    case 'from-node':
    case 'never':
      return undefined;
  }
}

function keptSource(frontend: Frontend, { caller }: Question, { settings }: OutcomeContext): SeenSource {
  const why =
    frontend.policy === 'Local' && frontend.kind !== 'ClusterIP'
      ? 'externalTrafficPolicy is Local'
      : frontend.masquerade === 'never'
        ? 'the proxy cannot recognise pods, so it masquerades nothing'
        : `the caller counts as a pod (${detectorText(settings.localDetector)})`;
  return {
    seenAs: 'itself',
    ip: caller.ip,
    remark: { code: 'source-kept', text: `${why}: endpoints see ${caller.ip}` },
  };
}

function asNode(code: Remark['code'], text: string): SeenSource {
  return { seenAs: 'node', ip: undefined, remark: { code, text } };
}
