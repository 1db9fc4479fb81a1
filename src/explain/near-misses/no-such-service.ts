import { LABEL_SERVICE_PROXY_NAME, objectName, type Service } from '../../api/index.ts';
import { compareTexts } from '../../lib/compare-texts.ts';
import { nearest } from '../../lib/nearest.ts';
import { FAMILIES } from '../../net/index.ts';
import type { Facts } from '../facts.ts';
import { type Finding, finding, listed } from '../finding.ts';
import { scan } from '../scan.ts';

/** A longer name cannot be a misspelling of this one. */
const MAX_LENGTH_DIFFERENCE = 3;
const MAX_OTHERS = 5;

/** No Service has the name: looks for the nearest name, for other namespaces, and for slices that name the Service. */
export async function noSuchService(key: string, facts: Facts): Promise<Finding> {
  const { namespace, name } = objectName(key);
  const alike = await similarServices(namespace, name, facts);
  const slices = FAMILIES.flatMap(family => facts.state.family(family).model.sliceKeysOf(key));
  // A proxy does not watch slices of headless Services. Slices have the labels of their Service.
  const isOfOther = (slice: string) => LABEL_SERVICE_PROXY_NAME in (facts.objects.slice(slice)?.metadata.labels ?? {});
  const isUnsure = facts.origin === 'proxy' && slices.every(isOfOther);
  const details = [
    ...(alike.nearest === undefined ? [] : [`The nearest name is ${namespace}/${alike.nearest}.`]),
    ...(alike.namespaces.length === 0 ? [] : [`Other namespaces have a Service ${name}: ${listed(alike.namespaces)}.`]),
    ...(alike.hasNamespace ? [] : [`No Service is in namespace ${namespace}.`]),
    ...(slices.length === 0 ? [] : [`EndpointSlice ${listed(slices)} names this Service, and so has no effect.`]),
    ...(isUnsure
      ? [`It does not watch headless Services, nor Services with the label ${LABEL_SERVICE_PROXY_NAME}.`]
      : []),
  ];
  const [other] = alike.namespaces;
  const meant = alike.nearest === undefined ? other && `${other}/${name}` : `${namespace}/${alike.nearest}`;
  const text = isUnsure ? `The proxy knows no Service ${key}.` : `There is no Service ${key}.`;
  return finding('service', isUnsure ? 'unknown' : 'bad', text, {
    details,
    ...(isUnsure ? { summary: `${text} It does not exist, it is headless, or another proxy serves it.` } : {}),
    data: { service: key, nearest: meant, otherNamespaces: alike.namespaces, slices },
    next:
      meant === undefined
        ? { text: 'list the Services of the namespace', command: `kubectl -n ${namespace} get services` }
        : { text: `ask for ${meant} instead`, command: `kube-proxy explain ${meant}` },
  });
}

interface SimilarServices {
  readonly nearest: string | undefined;
  /** Other namespaces that have a Service of the same name. */
  readonly namespaces: readonly string[];
  readonly hasNamespace: boolean;
}

async function similarServices(namespace: string, name: string, { objects }: Facts): Promise<SimilarServices> {
  const names: string[] = [];
  const namespaces: string[] = [];
  let hasNamespace = false;
  await scan<Service>(objects.services(), ({ metadata }) => {
    if (metadata.namespace === namespace) {
      hasNamespace = true;
      if (Math.abs(metadata.name.length - name.length) <= MAX_LENGTH_DIFFERENCE) names.push(metadata.name);
    } else if (metadata.name === name && namespaces.length < MAX_OTHERS) namespaces.push(metadata.namespace);
    return false;
  });
  return { nearest: nearest(name, names), namespaces: namespaces.sort(compareTexts), hasNamespace };
}
