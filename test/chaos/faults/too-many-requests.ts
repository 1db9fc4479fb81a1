import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../../control-plane/objects.ts';
import type { Fault } from './fault.ts';

const API = 'flowcontrol.apiserver.k8s.io/v1';
const CUT_MS = 1000;

/** No request of this level is ever served. */
const LEVEL: KubeObject = {
  apiVersion: API,
  kind: 'PriorityLevelConfiguration',
  metadata: { name: 'chaos' },
  spec: {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: 0,
      lendablePercent: 0,
      borrowingLimitPercent: 0,
      limitResponse: { type: 'Reject' },
    },
  },
};
const ALL_VERBS = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
const SCHEMA: KubeObject = {
  apiVersion: API,
  kind: 'FlowSchema',
  metadata: { name: 'chaos' },
  spec: {
    priorityLevelConfiguration: { name: 'chaos' },
    matchingPrecedence: 2,
    rules: [{ subjects: [{ kind: 'User', user: { name: 'system:kube-proxy' } }], resourceRules: [ALL_VERBS] }],
  },
};

/** The API server answers 429 to every request of the proxy, and its connections are cut again and again. */
export const tooManyRequests: Fault<{ readonly cuts: number }> = {
  name: 'too-many-requests',
  target: 'api',
  impairs: ['knowledge'],
  recoveryMs: 45_000,
  choose: random => ({ cuts: random.between(2, 8) }),
  async run({ cluster, relay }, { cuts }) {
    await cluster.apply(LEVEL);
    await cluster.apply(SCHEMA);
    try {
      for (let cut = 0; cut < cuts; cut++) {
        relay.cut();
        await delay(CUT_MS);
      }
    } finally {
      await cluster.delete(SCHEMA);
      await cluster.delete(LEVEL);
    }
  },
};
