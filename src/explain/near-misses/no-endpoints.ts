import {
  type EndpointSlice,
  LABEL_SERVICE_NAME,
  objectKey,
  objectName,
  type Service,
  type ServicePortSpec,
} from '../../api/index.ts';
import { editDistance } from '../../lib/nearest.ts';
import type { Problem } from '../../lib/problem.ts';
import { type Family, joinHostPort, otherFamily } from '../../net/index.ts';
import { planName } from '../../plan/index.ts';
import type { NextStep } from '../explanation.ts';
import type { Facts } from '../facts.ts';
import { counted, type Finding, finding, listed } from '../finding.ts';
import { scan } from '../scan.ts';
import type { ExplainedEndpoint } from '../steps/endpoints.ts';
import { type MetFrontend, slicesOf } from '../target.ts';

/** Why a connection has no endpoint to go to. */
export async function noEndpoints(
  met: MetFrontend,
  endpoints: readonly ExplainedEndpoint[],
  facts: Facts,
): Promise<Finding> {
  if (endpoints.length > 0) return unusable(met, endpoints, facts);
  const { plan, family } = met;
  const service = facts.objects.service(plan.service);
  const slices = slicesOf(plan.service, family, facts);
  const others = slicesOf(plan.service, otherFamily(family), facts).filter(({ endpoints: list }) => list.length > 0);
  if (slices.every(slice => slice.endpoints.length === 0)) {
    if (others.length > 0) return wrongFamily(met, others, facts);
    return slices.length > 0 ? emptySlices(met, slices) : await noSlices(met, service, facts);
  }
  const port = service?.spec.ports.find(
    ({ name, protocol }) => name === plan.port.name && protocol === plan.port.protocol,
  );
  return wrongPort(met, port, slices, service?.spec.hasSelector === true);
}

/** Endpoints exist, but none may get this connection. */
function unusable({ plan, frontend }: MetFrontend, endpoints: readonly ExplainedEndpoint[], facts: Facts): Finding {
  const name = planName(plan);
  const { namespace } = objectName(plan.service);
  const pods = endpoints.flatMap(({ target }) => target ?? []);
  const describe: NextStep =
    pods[0] === undefined
      ? { text: 'look at the endpoints', command: slicesCommand(plan.service) }
      : { text: 'look at why the pods are not ready', command: `kubectl -n ${namespace} describe pod ${pods[0]}` };
  if (frontend.policy === 'Local' && plan.endpoints.hasEndpoints) {
    const field = frontend.kind === 'ClusterIP' ? 'internalTrafficPolicy' : 'externalTrafficPolicy';
    const nodes = [...new Set(endpoints.flatMap(({ node, isLocal }) => (isLocal ? [] : (node ?? []))))];
    const text = `${field} is Local, and no endpoint of ${name} that can serve is on node ${facts.nodeName}.`;
    const where = nodes.length === 0 ? [] : [`Endpoints are on ${listed(nodes)}.`];
    const advice = 'run a pod of the Service on this node, call a node that has one, or use policy Cluster';
    const next = { text: advice, command: slicesCommand(plan.service) };
    return finding('endpoints', 'bad', text, { details: where, next });
  }
  const terminating = endpoints.filter(({ reason }) => reason === 'no longer serving' || reason === 'terminating');
  const are = endpoints.length === 1 ? 'The only endpoint' : `All ${endpoints.length} endpoints`;
  const verb = endpoints.length === 1 ? 'is' : 'are';
  if (terminating.length === endpoints.length) {
    const text = `${are} of ${name} ${verb} terminating and no longer ${endpoints.length === 1 ? 'serves' : 'serve'}.`;
    return finding('endpoints', 'bad', text, { next: { ...describe, text: 'find out why no new pod is there' } });
  }
  const text =
    endpoints.length === 1
      ? `${are} of ${name} is not ready.`
      : `None of the ${endpoints.length} endpoints of ${name} is ready.`;
  return finding('endpoints', 'bad', text, { next: describe });
}

async function noSlices({ plan }: MetFrontend, service: Service | undefined, facts: Facts): Promise<Finding> {
  const { namespace, name } = objectName(plan.service);
  const strays = await straySlices(plan.service, facts);
  if (strays.length > 0) {
    const [stray] = strays;
    const label = stray?.metadata.labels[LABEL_SERVICE_NAME] ?? '';
    const names = strays.map(({ metadata }) => objectKey(metadata));
    return finding('endpoints', 'bad', `No EndpointSlice names Service ${plan.service}.`, {
      details: [`EndpointSlice ${listed(names)} names Service ${namespace}/${label}, which does not exist.`],
      summary: `EndpointSlice ${listed(names)} names Service ${label}, which does not exist; ${name} has no endpoints.`,
      next: {
        text: `correct the label ${LABEL_SERVICE_NAME} of the slice`,
        command: `kubectl -n ${namespace} label endpointslice ${stray?.metadata.name} ${LABEL_SERVICE_NAME}=${name} --overwrite`,
      },
    });
  }
  const [unusable] = unusableSlices(plan.service, facts);
  if (unusable) {
    const text = `The proxy uses no EndpointSlice of ${plan.service}: it cannot use ${unusable.object}.`;
    const slice = unusable.object?.slice(`EndpointSlice ${namespace}/`.length);
    const command = `kubectl -n ${namespace} get endpointslice ${slice} -o yaml`;
    return finding('endpoints', 'bad', text, {
      details: [[unusable.field, unusable.message].filter(Boolean).join(' ')],
      next: { text: 'correct the EndpointSlice', command },
    });
  }
  if (service?.spec.hasSelector === true) {
    const text = `No EndpointSlice belongs to ${plan.service}: no pod matches its selector, or no controller makes slices.`;
    const command = `kubectl -n ${namespace} describe service ${name}`;
    return finding('endpoints', 'bad', text, {
      next: { text: 'compare the selector with the labels of the pods', command },
    });
  }
  const text = `${plan.service} has no selector and no EndpointSlice, so nothing gives it endpoints.`;
  const next = {
    text: 'give it a selector, or make an EndpointSlice for it',
    command: `kubectl -n ${namespace} edit service ${name}`,
  };
  return finding('endpoints', 'bad', text, { next });
}

/** Slices of the namespace whose label names a Service that does not exist and whose name is almost that of this one. */
async function straySlices(key: string, { objects }: Facts): Promise<readonly EndpointSlice[]> {
  const { namespace, name } = objectName(key);
  const found: EndpointSlice[] = [];
  await scan(objects.slices(), slice => {
    const { labels, namespace: own } = slice.metadata;
    const label = labels[LABEL_SERVICE_NAME];
    if (own !== namespace || !label || !isAlmost(label, name)) return false;
    if (!objects.service(objectKey({ namespace, name: label }))) found.push(slice);
    return found.length >= 3;
  });
  return found;
}

/** The label of a slice that cannot be used is not known. Controllers append one word to the name of the Service. */
function unusableSlices(key: string, { problems }: Facts): readonly Problem[] {
  const start = `EndpointSlice ${key}-`;
  return problems.filter(
    ({ object = '', reason }) =>
      reason !== 'doubtful' && object.startsWith(start) && /^[a-z0-9]+$/.test(object.slice(start.length)),
  );
}

function isAlmost(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 2) return false;
  return editDistance(a, b) <= Math.max(1, Math.floor(b.length / 3));
}

function emptySlices({ plan }: MetFrontend, slices: readonly EndpointSlice[]): Finding {
  const { namespace, name } = objectName(plan.service);
  const text = `${slices.length === 1 ? 'The EndpointSlice' : 'All EndpointSlices'} of ${plan.service} ${slices.length === 1 ? 'is' : 'are'} empty: no pod matches its selector.`;
  const command = `kubectl -n ${namespace} describe service ${name}`;
  return finding('endpoints', 'bad', text, {
    next: { text: 'compare the selector with the labels of the pods', command },
  });
}

function wrongFamily({ plan, family }: MetFrontend, others: readonly EndpointSlice[], facts: Facts): Finding {
  const other: Family = otherFamily(family);
  const count = others.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
  const text = `The endpoints of ${plan.service} are ${other} only, and this address is ${family}.`;
  const otherPlan = facts.state
    .family(other)
    .planner.plansOf(plan.service)
    .find(({ port }) => port.name === plan.port.name && port.protocol === plan.port.protocol);
  const address = otherPlan?.frontends[0];
  const details = [
    `${counted(count, 'endpoint')} in EndpointSlice ${listed(others.map(({ metadata }) => objectKey(metadata)))}.`,
  ];
  if (address?.ip !== undefined) {
    const command = `kube-proxy explain ${joinHostPort(address.ip, address.port)}`;
    return finding('endpoints', 'bad', text, { details, next: { text: `use the ${other} address`, command } });
  }
  const { namespace, name } = objectName(plan.service);
  const command = `kubectl -n ${namespace} get service ${name} -o jsonpath='{.spec.ipFamilies}'`;
  const next = { text: `give the Service ${other}, or the pods ${family} addresses`, command };
  return finding('endpoints', 'bad', text, { details, next });
}

/** The slices have endpoints, but no port of the name and protocol. */
function wrongPort(
  { plan }: MetFrontend,
  port: ServicePortSpec | undefined,
  slices: readonly EndpointSlice[],
  hasSelector: boolean,
): Finding {
  const { namespace, name } = objectName(plan.service);
  const pairs = slices.flatMap(({ ports }) => ports.map(found => `${found.name || '""'} (${found.protocol})`));
  const found = [...new Set(pairs)];
  const wanted = `${plan.port.name === '' ? 'without a name' : `named ${plan.port.name}`} (${plan.port.protocol})`;
  if (hasSelector && typeof port?.targetPort === 'string') {
    const text = `targetPort ${port.targetPort} of ${planName(plan)} is a name, and no pod has a container port of that name.`;
    const details = found.length === 0 ? [] : [`The pods have the ports ${listed(found)}.`];
    const command = `kubectl -n ${namespace} describe service ${name}`;
    const next = { text: `name a container port ${port.targetPort}, or use a number as targetPort`, command };
    return finding('endpoints', 'bad', text, { details, next });
  }
  const names = slices.map(({ metadata }) => objectKey(metadata));
  const has = found.length === 0 ? 'it has no ports' : `its ports are ${listed(found)}`;
  const text = `EndpointSlice ${listed(names)} has no port ${wanted}: ${has}.`;
  const details = ['The name of a port must be the same in the Service and in its EndpointSlices.'];
  const next = { text: 'make the names equal', command: slicesCommand(plan.service, '-o yaml') };
  return finding('endpoints', 'bad', text, { details, next });
}

function slicesCommand(service: string, more = '-o wide'): string {
  const { namespace, name } = objectName(service);
  return `kubectl -n ${namespace} get endpointslices -l ${LABEL_SERVICE_NAME}=${name} ${more}`;
}
