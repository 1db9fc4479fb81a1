import { NONE } from '../lib/none.ts';
import { KEPT_LABELS, NO_ENTRIES } from './decode-metadata.ts';
import { describeValue, type FieldPath, type FieldProblem, fieldProblem } from './field-problem.ts';
import type { EndpointPort, KubeObject, ObjectMeta, ServicePortSpec } from './objects.ts';

interface NameRule {
  readonly pattern: RegExp;
  readonly description: string;
}

/** For Services, namespaces and ports. Older API servers demand that a Service begins with a letter. */
export const DNS_LABEL: NameRule = {
  pattern: /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
  description:
    "a lower-case RFC 1123 label: at most 63 letters, digits and '-', with a letter or digit at the beginning and the end",
};

/** For all other objects. */
export const DNS_SUBDOMAIN: NameRule = {
  pattern: /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/,
  description: "a lower-case RFC 1123 subdomain: at most 253 letters, digits, '-' and '.', such as example.com",
};

export const LABEL_VALUE: NameRule = {
  pattern: /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/,
  description:
    "a label value: at most 63 letters, digits, '-', '_' and '.', with a letter or digit at the beginning and the end",
};

/**
 * Finds names that no API server accepts. Names become parts of rules and of log lines, so objects from every source
 * are checked.
 */
export function checkNames(object: KubeObject): readonly FieldProblem[] {
  const problems = new Problems();
  switch (object.kind) {
    case 'Service':
      checkMetadata(object.metadata, DNS_LABEL, problems);
      checkPortNames(SERVICE_PORTS, object.spec.ports, problems);
      break;
    case 'EndpointSlice':
      checkMetadata(object.metadata, DNS_SUBDOMAIN, problems);
      checkPortNames(SLICE_PORTS, object.ports, problems);
      break;
    case 'Node':
    case 'ServiceCIDR':
      checkMetadata(object.metadata, DNS_SUBDOMAIN, problems);
  }
  return problems.found;
}

/** The problem of a text that does not follow the rule. */
export function checkName(path: FieldPath, text: string, rule: NameRule): readonly FieldProblem[] {
  return rule.pattern.test(text) ? NONE : [nameProblem(path, text, rule)];
}

function nameProblem(path: FieldPath, text: string, { description }: NameRule): FieldProblem {
  return fieldProblem(path, `is ${describeValue(text)}, but must be ${description}`);
}

/** Makes a list only for a problem, because hundreds of thousands of objects have none. */
class Problems {
  found: readonly FieldProblem[] = NONE;

  add(path: FieldPath, text: string, rule: NameRule): void {
    this.found = [...this.found, nameProblem(path, text, rule)];
  }
}

const SERVICE_PORTS = ['spec', 'ports'];
const SLICE_PORTS = ['ports'];

function checkMetadata({ name, namespace, labels }: ObjectMeta, rule: NameRule, problems: Problems): void {
  if (!rule.pattern.test(name)) problems.add(['metadata', 'name'], name, rule);
  if (namespace !== '' && !DNS_LABEL.pattern.test(namespace)) {
    problems.add(['metadata', 'namespace'], namespace, DNS_LABEL);
  }
  if (labels === NO_ENTRIES) return;
  for (const key of KEPT_LABELS) {
    const value = labels[key];
    if (value !== undefined && !LABEL_VALUE.pattern.test(value)) {
      problems.add(['metadata', 'labels', key], value, LABEL_VALUE);
    }
  }
}

/** A port without a name is valid here: the only port of a Service needs none. */
function checkPortNames(path: FieldPath, ports: readonly (ServicePortSpec | EndpointPort)[], problems: Problems): void {
  for (let i = 0; i < ports.length; i++) {
    const name = ports[i]?.name;
    if (name && !DNS_LABEL.pattern.test(name)) problems.add([...path, i, 'name'], name, DNS_LABEL);
  }
}
