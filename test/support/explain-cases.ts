import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Topic } from '../../src/explain/index.ts';
import type { SetAside } from '../../src/modes/index.ts';
import { ask, factsOf, stepText, verdictText } from './explain-facts.ts';
import { service, slice } from './objects.ts';

// Objects that many tests of explanations use, and tests of texts.

export const http = [{ name: 'http', port: 80, targetPort: 8080 }];
export const httpSlice = { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] } as const;
export const pod = (name: string) => ({ kind: 'Pod', namespace: 'default', name });
export const web = service('web', { clusterIP: '10.96.0.10', ports: http, hasSelector: true });
export const webSlice = slice('web-1', ['10.244.1.2'], httpSlice);
export const nodePorts = [{ name: 'http', port: 80, nodePort: 30080 }];
export const balancer = service('web', {
  type: 'LoadBalancer',
  clusterIP: '10.96.0.10',
  ports: nodePorts,
  ingress: [{ ip: '203.0.113.1' }],
  loadBalancerSourceRanges: ['198.51.100.0/24'],
});
export const local = service('web', {
  type: 'NodePort',
  clusterIP: '10.96.0.10',
  ports: nodePorts,
  externalTrafficPolicy: 'Local',
});
export const serviceCidr = {
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes', namespace: '', labels: {}, annotations: {} },
  cidrs: ['10.96.0.0/16'],
} as const;
export const refusal: SetAside['cause'] = {
  code: 'KERNEL_REFUSED',
  errno: 'EEXIST',
  object: 'element { 10.96.0.10 . tcp . 80 }',
  message: 'File exists',
};

export interface TextCase {
  readonly what: string;
  readonly question: string;
  readonly facts: Parameters<typeof factsOf>;
  readonly topic: Topic;
  /** The step of the topic, with its details. */
  readonly step: readonly string[];
  /** The last lines of the answer. */
  readonly verdict: readonly string[];
}

/** One test for each case: the step and the last lines that the operator sees. */
export function testTexts(cases: readonly TextCase[]): void {
  for (const { what, question, facts, topic, step, verdict } of cases) {
    test(what, async () => {
      const answer = await ask(question, factsOf(...facts));
      assert.deepEqual(stepText(answer, topic).split('\n'), step);
      assert.deepEqual(verdictText(answer).split('\n'), verdict);
    });
  }
}
