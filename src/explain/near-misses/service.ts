import { LABEL_SERVICE_PROXY_NAME, objectKey, type Service, type ServicePortSpec } from '../../api/index.ts';
import { nearest } from '../../lib/nearest.ts';
import { type Family, joinHostPort } from '../../net/index.ts';
import { planName, type ServicePortPlan } from '../../plan/index.ts';
import type { Facts } from '../facts.ts';
import { type Finding, finding, listed } from '../finding.ts';
import type { ServiceTarget } from '../question.ts';

/** A Service that no proxy, or another proxy, makes work. */
export function notServed({ metadata, spec }: Service): Finding {
  const key = objectKey(metadata);
  const { namespace, name } = metadata;
  const otherProxy = metadata.labels[LABEL_SERVICE_PROXY_NAME];
  const look = { text: 'look at the Service', command: `kubectl -n ${namespace} get service ${name} -o yaml` };
  if (otherProxy !== undefined) {
    const label = `${LABEL_SERVICE_PROXY_NAME}=${otherProxy}`;
    const text = `Another proxy serves ${key}: it has the label ${label}, so kube-proxy ignores it.`;
    return finding('service', 'unknown', text, { data: { service: key, otherProxy }, next: look });
  }
  if (spec.type === 'ExternalName') {
    const text = `${key} is of type ExternalName: DNS answers with another name, and kube-proxy has no part in it.`;
    const command = `kubectl -n ${namespace} get service ${name} -o jsonpath='{.spec.externalName}'`;
    const next = { text: 'look up the name that DNS answers with', command };
    return finding('service', 'unknown', text, { data: { service: key, type: spec.type }, next });
  }
  if (spec.clusterIP === 'None') {
    const text = `${key} is headless: DNS answers with the addresses of its pods, and kube-proxy has no part in it.`;
    const command = `kubectl -n ${namespace} get endpointslices -l kubernetes.io/service-name=${name}`;
    const next = { text: 'look at the addresses of its endpoints', command };
    return finding('service', 'unknown', text, { data: { service: key, clusterIP: 'None' }, next });
  }
  const text = `${key} has no cluster IP yet: the API server has not given it one.`;
  return finding('service', 'bad', text, { data: { service: key, clusterIP: '' }, next: look });
}

/** The Service has no port of this name or number. */
export function noSuchPort({ metadata, spec }: Service, { port, protocol }: ServiceTarget): Finding {
  const key = objectKey(metadata);
  const ports = spec.ports.map(portText);
  const asked = port === undefined ? `a port with ${protocol}` : `port ${port}${protocol ? `/${protocol}` : ''}`;
  const nodePort = spec.ports.find(other => other.nodePort !== 0 && String(other.nodePort) === port);
  const target = spec.ports.find(({ targetPort }) => String(targetPort ?? '') === port);
  const meant =
    spec.ports.find(other => other.name === port || String(other.port) === port) ??
    nodePort ??
    target ??
    spec.ports.find(({ name }) => name !== '' && name === nearest(port ?? '', [name]));
  const details = [
    ports.length === 0
      ? 'It has no ports.'
      : `It has ${ports.length === 1 ? 'the port' : 'the ports'} ${listed(ports, 10)}.`,
    ...(nodePort ? [`${port} is the node port of port ${portText(nodePort)}: ask for NODE-IP:${port}.`] : []),
    ...(!nodePort && target ? [`${port} is the target port, at the pods. Callers use ${target.port}.`] : []),
  ];
  const command = meant && `kube-proxy explain ${key}:${meant.name || meant.port}${protocolSuffix(meant)}`;
  return finding('service', 'bad', `Service ${key} has no ${asked.replace(/^a /, '')}.`, {
    details,
    data: { service: key, ports: spec.ports },
    next: meant
      ? { text: `use port ${portText(meant)}`, ...(command === undefined ? {} : { command }) }
      : {
          text: 'look at the ports of the Service',
          command: `kubectl -n ${metadata.namespace} get service ${metadata.name}`,
        },
  });
}

/** `http 80/TCP` */
export function portText({ name, port, protocol }: Pick<ServicePortSpec, 'name' | 'port' | 'protocol'>): string {
  return `${name === '' ? '' : `${name} `}${port}/${protocol}`;
}

/** What to append to a question, because TCP is the default. */
export function protocolSuffix({ protocol }: Pick<ServicePortSpec, 'protocol'>): string {
  return protocol === 'TCP' ? '' : `/${protocol.toLowerCase()}`;
}

/** Another Service owns the address that the plan asks for. */
export function lostFrontend(plan: ServicePortPlan): Finding {
  const [conflict] = plan.conflicts;
  const { frontend, owner = '' } = conflict ?? {};
  const address = frontend?.ip === undefined ? `node port ${frontend?.port}` : joinHostPort(frontend.ip, frontend.port);
  const [namespace, name] = owner.split('/');
  return finding('service', 'bad', `${address} of ${planName(plan)} belongs to Service ${owner}, which wants it too.`, {
    details: ['Two Services cannot have one address and port. Connections go to the owner.'],
    data: { service: plan.service, address, owner },
    next: {
      text: 'give one of the two another address',
      command: `kubectl -n ${namespace} get service ${name} -o wide`,
    },
  });
}

/** The proxy has the Service, but plans nothing for the port. */
export function noPlan(service: Service, port: ServicePortSpec, families: readonly Family[], facts: Facts): Finding {
  const key = objectKey(service.metadata);
  const problems = facts.problems.filter(({ object }) => object === `Service ${key}`);
  const data = { service: key, port: port.name, families, problems };
  const status = { text: 'look at the proxy', command: 'kube-proxy status' };
  if (!families.some(family => facts.families.includes(family))) {
    const text = `${key} has only ${listed(families)} addresses, and this node serves only ${listed(facts.families)}.`;
    const command = `kubectl -n ${service.metadata.namespace} get service ${service.metadata.name} -o jsonpath='{.spec.ipFamilies}'`;
    return finding('service', 'bad', text, { data, next: { text: 'look at the families of the Service', command } });
  }
  if (problems.length > 0) {
    const details = problems.map(({ field, message }) => [field, message].filter(Boolean).join(' '));
    const command = `kubectl -n ${service.metadata.namespace} edit service ${service.metadata.name}`;
    const text = `The proxy cannot use Service ${key}.`;
    return finding('service', 'bad', text, { details, data, next: { text: 'correct the Service', command } });
  }
  const text = `The proxy has received Service ${key}, but has not planned port ${portText(port)} yet.`;
  return finding('service', 'unknown', text, { data, next: status });
}
