import { LABEL_SERVICE_NAME, objectName } from '../../api/index.ts';
import {
  type EndpointExplanation,
  endpointsOf,
  endpointWeight,
  explainEndpoints,
  explainTopology,
  planName,
  weightText,
} from '../../plan/index.ts';
import type { Facts } from '../facts.ts';
import { aligned, counted, type Finding, finding } from '../finding.ts';
import { noEndpoints } from '../near-misses/no-endpoints.ts';
import type { Outcome } from '../outcome.ts';
import { placesOf, targetName } from '../pods.ts';
import { type MetFrontend, slicesOf } from '../target.ts';

const MAX_LINES = 20;

/** An endpoint of the service port, and whether the connection may go there. */
export interface ExplainedEndpoint {
  /** `ip:port` */
  readonly address: string;
  readonly used: boolean;
  readonly reason: string;
  readonly node?: string | undefined;
  readonly isLocal: boolean;
  readonly zone?: string | undefined;
  /** The pod: its name, with its namespace if that is another one. */
  readonly target?: string | undefined;
  /** Absent if all endpoints weigh the same. */
  readonly weight?: number | undefined;
  /** The part of its weight that it gets for now, from 0 to 1. Absent if that is all. */
  readonly part?: number | undefined;
}

/** Every endpoint, used or not, and why. */
export async function endpointsStep(met: MetFrontend, outcome: Outcome, facts: Facts): Promise<Finding> {
  const { plan } = met;
  const endpoints = explainedEndpoints(met, outcome, facts);
  const used = endpoints.filter(endpoint => endpoint.used);
  const details = endpointLines(endpoints);
  const topology = topologyLine(met, facts);
  const data = { endpoints, ...(topology === undefined ? {} : { topology }) };
  if (used.length === 0) {
    const why = await noEndpoints(met, endpoints, facts);
    return { ...why, details: [...why.details, ...details], data };
  }
  const { namespace, name } = objectName(plan.service);
  const command = `kubectl -n ${namespace} get endpointslices -l ${LABEL_SERVICE_NAME}=${name}`;
  const all = endpoints.length === used.length;
  const text = all
    ? `${planName(plan)} has ${counted(used.length, 'endpoint')}, and this node uses ${all && used.length === 1 ? 'it' : 'all of them'}.`
    : `This node uses ${used.length} of the ${endpoints.length} endpoints of ${planName(plan)}.`;
  const isFallback = used.every(({ reason }) => reason.startsWith('terminating'));
  return finding('endpoints', isFallback ? 'note' : 'good', text, {
    details: [...details, ...(topology === undefined ? [] : [`${topology.replace(/^h/, 'H')}.`])],
    data,
    ...(isFallback ? { next: { text: 'find out why no endpoint is ready', command } } : {}),
  });
}

function explainedEndpoints(met: MetFrontend, outcome: Outcome, facts: Facts): readonly ExplainedEndpoint[] {
  const { plan, family } = met;
  const state = facts.state.family(family).model.service(plan.service);
  if (!state) return [];
  const { namespace } = objectName(plan.service);
  const places = placesOf(slicesOf(plan.service, family, facts));
  const answering = answeringTexts(outcome);
  const { node } = facts.state.nodeOptions.families[family];
  return explainEndpoints(endpointsOf(state, plan.port), plan.port, node, plan).map(explained => {
    const { endpoint } = explained;
    const place = places.get(endpoint.ip);
    const decision = decisionFor(explained, answering?.has(endpoint.text), met);
    return {
      address: endpoint.text,
      used: decision.used,
      reason: decision.reason,
      node: endpoint.nodeName,
      isLocal: endpoint.isLocal,
      zone: place?.zone,
      target: targetName(place?.targetRef, namespace) || undefined,
      ...endpointWeight(plan, endpoint),
    };
  });
}

/** The endpoints that get connections, also those whose answers are lost. Undefined if the connection gets none. */
function answeringTexts(outcome: Outcome): ReadonlySet<string> | undefined {
  if (outcome.kind !== 'answered') return undefined;
  return new Set([...outcome.endpoints.map(({ text }) => text), ...outcome.lost]);
}

/** The decision of the list that counts for this connection. `isUsed` is undefined if the connection gets no endpoint. */
function decisionFor(
  { cluster, local }: EndpointExplanation,
  isUsed: boolean | undefined,
  { frontend }: MetFrontend,
): { readonly used: boolean; readonly reason: string } {
  const ordered = frontend.policy === 'Local' ? [local, cluster] : [cluster, local];
  const own = ordered.find(decision => decision !== undefined) ?? { used: false, reason: 'not used' };
  if (isUsed === undefined || own.used === isUsed) return own;
  const other = ordered.find(decision => decision?.used === isUsed);
  return other ?? { used: isUsed, reason: isUsed ? 'used in this mode' : own.reason };
}

function endpointLines(endpoints: readonly ExplainedEndpoint[]): readonly string[] {
  const sorted = [...endpoints.filter(({ used }) => used), ...endpoints.filter(({ used }) => !used)];
  const lines = aligned(
    sorted
      .slice(0, MAX_LINES)
      .map(({ used, address, target = '', node = '', isLocal, zone = '', reason, weight, part }) => [
        `${used ? '✓' : '·'} ${address}`,
        target,
        isLocal ? `${node} (this node)` : node,
        zone,
        !weight ? reason : `${reason}, ${weightText({ weight, ...(part === undefined ? {} : { part }) })}`,
      ]),
  );
  const more = sorted.length - MAX_LINES;
  return more > 0 ? [...lines, `and ${more} more (-o json has all)`] : lines;
}

function topologyLine({ plan, family }: MetFrontend, { state }: Facts): string | undefined {
  const service = state.family(family).model.service(plan.service);
  if (!service) return undefined;
  return explainTopology(endpointsOf(service, plan.port), plan.port, state.nodeOptions.families[family].node);
}
