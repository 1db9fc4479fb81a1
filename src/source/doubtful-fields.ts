import { type FieldPath, type FieldProblem, fieldProblem, type KubeObject, type Service } from '../api/index.ts';

/**
 * Finds fields that do not fit the type of a Service, and numbers that an API server would allocate. The object is used,
 * but probably does not do what its author wants. `object` has no defaults yet.
 */
export function doubtfulFields(object: KubeObject): readonly FieldProblem[] {
  if (object.kind !== 'Service') return [];
  return [...nodePortFields(object.spec), ...policyFields(object.spec)];
}

function nodePortFields({ type, ports }: Service['spec']): readonly FieldProblem[] {
  return ports.flatMap(({ nodePort }, i) => {
    const path = ['spec', 'ports', i, 'nodePort'];
    if (type === 'NodePort' && nodePort === 0) {
      return [doubt(path, 'is missing, and nothing allocates one for manifests: write a port')];
    }
    const hasNodePorts = type === 'NodePort' || type === 'LoadBalancer';
    return nodePort === 0 || hasNodePorts
      ? []
      : [doubt(path, `is ${nodePort}, ${refusedFor(type)}: write type NodePort`)];
  });
}

function policyFields(spec: Service['spec']): readonly FieldProblem[] {
  const { type, externalTrafficPolicy, loadBalancerSourceRanges, sessionAffinity } = spec;
  const problems: FieldProblem[] = [];
  const isExternal = type === 'NodePort' || type === 'LoadBalancer' || spec.externalIPs.length > 0;
  if (externalTrafficPolicy !== '' && !isExternal) {
    const advice = externalTrafficPolicy === 'Local' ? ': did you mean internalTrafficPolicy?' : ': remove it';
    const message = `is ${externalTrafficPolicy}, ${refusedFor(type)} without external addresses${advice}`;
    problems.push(doubt(['spec', 'externalTrafficPolicy'], message));
  }
  if (loadBalancerSourceRanges.length > 0 && type !== 'LoadBalancer') {
    const message = `has no effect: an API server refuses it for the type ${type || 'ClusterIP'}`;
    problems.push(doubt(['spec', 'loadBalancerSourceRanges'], message));
  }
  if (spec.sessionAffinityTimeoutSeconds !== undefined && sessionAffinity !== 'ClientIP') {
    const message = 'has no effect without sessionAffinity ClientIP: write it too';
    problems.push(doubt(['spec', 'sessionAffinityConfig'], message));
  }
  return problems;
}

function refusedFor(type: string): string {
  return `which an API server refuses for the type ${type || 'ClusterIP'}`;
}

function doubt(path: FieldPath, message: string): FieldProblem {
  return { ...fieldProblem(path, message), reason: 'doubtful' };
}
