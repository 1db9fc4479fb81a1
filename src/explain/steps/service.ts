import { FAMILIES, joinHostPort } from '../../net/index.ts';
import { type Frontend, planName } from '../../plan/index.ts';
import type { Facts } from '../facts.ts';
import { type Finding, finding } from '../finding.ts';
import { protocolSuffix } from '../near-misses/service.ts';
import type { MetFrontend } from '../target.ts';

const KINDS: Readonly<Record<Frontend['kind'], string>> = {
  ClusterIP: 'the cluster IP',
  ExternalIP: 'an external IP',
  LoadBalancerIP: 'the load-balancer IP',
  NodePort: 'the node port',
};

/** Which Service and frontend the address belongs to, and which others the Service has. */
export function serviceStep(met: MetFrontend, facts: Facts): Finding {
  const { plan, frontend, ip, port, protocol } = met;
  const others = otherFrontends(met, facts);
  const lost = plan.conflicts.map(
    ({ frontend: other, owner }) => `${addressText(other)} belongs to Service ${owner}, which wants it too.`,
  );
  const losers = facts.state.family(met.family).planner.lostFrontendsAt(frontend.ip, frontend.port, protocol);
  const wanted = losers.map(other => `${planName(other.plan)} wants this address, too, and does not get it.`);
  const text = `${joinHostPort(ip, port)}/${protocol} is ${KINDS[frontend.kind]} of ${planName(plan)}.`;
  return finding('service', lost.length + wanted.length > 0 ? 'note' : 'good', text, {
    details: [...(others.length === 0 ? [] : [`Other addresses: ${others.join(', ')}`]), ...lost, ...wanted],
    data: {
      service: plan.service,
      port: plan.port.name,
      protocol,
      frontend: frontend.kind,
      address: joinHostPort(ip, port),
      others,
      conflicts: plan.conflicts.map(({ frontend: other, owner }) => ({ address: addressText(other), owner })),
    },
  });
}

/** The further frontends of the port in both families, as the operator can ask for them. */
function otherFrontends({ plan, frontend }: MetFrontend, { state, families }: Facts): readonly string[] {
  const { port } = plan;
  const plans = FAMILIES.filter(family => families.includes(family))
    .flatMap(family => state.family(family).planner.plansOf(plan.service))
    .filter(other => other.port.name === port.name && other.port.protocol === port.protocol);
  const others = plans.flatMap(({ frontends }) => frontends).filter(other => other !== frontend);
  const texts = others.map(other => `${addressText(other)}${protocolSuffix(port)}`);
  return [...new Set(texts)];
}

function addressText({ ip, port }: Frontend): string {
  return ip === undefined ? `NODE-IP:${port}` : joinHostPort(ip, port);
}
