import type { Endpoint } from '../../model/index.ts';
import type { ModeBehaviour } from '../../modes/index.ts';
import { type Frontend, type ServicePortPlan, slotsOf } from '../../plan/index.ts';
import type { Caller } from '../caller.ts';
import type { Remark } from '../outcome.ts';
import { isDetectedPod } from './local-caller.ts';
import type { OutcomeContext } from './question.ts';

/** The endpoints that serve a caller, or what happens without any. */
export type ServedBy =
  | {
      readonly kind: 'endpoints';
      /** One for each slot, so an endpoint may be there several times. */
      readonly slots: readonly Endpoint[];
      readonly remarks: readonly Remark[];
    }
  | { readonly kind: 'reject' }
  | { readonly kind: 'drop' };

/** The endpoints of a frontend for a caller. Never an empty list. */
export function servedBy(
  plan: ServicePortPlan,
  frontend: Frontend,
  caller: Caller,
  { mode, settings }: OutcomeContext,
): ServedBy {
  const { cluster, local } = slotsOf(plan);
  const { behaviour } = mode;
  if (behaviour.hasShortCircuit && isShortCircuited(frontend, caller, settings)) {
    const name = caller.place === 'node' ? 'the node itself' : 'a pod of this node';
    return serving(cluster, 'short-circuit', `the traffic policy is Local, but ${name} reaches all endpoints`);
  }
  if (frontend.policy === 'Cluster') return serving(cluster);
  if (local.length > 0) {
    return serving(local, 'local-endpoints', 'the traffic policy is Local: only endpoints on this node serve');
  }
  return withoutLocal(plan, frontend, behaviour);
}

function withoutLocal(plan: ServicePortPlan, { action }: Frontend, { withoutLocalEndpoints }: ModeBehaviour): ServedBy {
  if (withoutLocalEndpoints === 'as-planned') return { kind: action === 'reject' ? 'reject' : 'drop' };
  const text = 'the traffic policy is Local and no endpoint is on this node: this mode uses those of other nodes';
  return serving(slotsOf(plan).cluster, 'local-fallback', text);
}

function serving(slots: readonly Endpoint[], code?: Remark['code'], text = ''): ServedBy {
  if (slots.length === 0) return { kind: 'reject' };
  return { kind: 'endpoints', slots, remarks: code ? [{ code, text }] : [] };
}

function isShortCircuited(
  { shortCircuit }: Frontend,
  caller: Caller,
  { localDetector }: Pick<OutcomeContext['settings'], 'localDetector'>,
): boolean {
  switch (shortCircuit) {
    case 'none':
      return false;
    case 'node':
      return caller.place === 'node';
    case 'pods-and-node':
      return caller.place === 'node' || isDetectedPod(caller, localDetector);
  }
}
