import { NONE } from '../lib/none.ts';
import { KEPT_LABELS } from './decode-metadata.ts';
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
  switch (object.kind) {
    case 'Service':
      return [...checkMetadata(object.metadata, DNS_LABEL), ...checkPortNames(['spec', 'ports'], object.spec.ports)];
    case 'EndpointSlice':
      return [...checkMetadata(object.metadata, DNS_SUBDOMAIN), ...checkPortNames(['ports'], object.ports)];
    case 'Node':
    case 'ServiceCIDR':
      return checkMetadata(object.metadata, DNS_SUBDOMAIN);
  }
}

/** The problem of a text that does not follow the rule. */
export function checkName(path: FieldPath, text: string, { pattern, description }: NameRule): readonly FieldProblem[] {
  if (pattern.test(text)) return NONE;
  return [fieldProblem(path, `is ${describeValue(text)}, but must be ${description}`)];
}

function checkMetadata({ name, namespace, labels }: ObjectMeta, rule: NameRule): readonly FieldProblem[] {
  const problems = [...checkName(['metadata', 'name'], name, rule)];
  if (namespace !== '') problems.push(...checkName(['metadata', 'namespace'], namespace, DNS_LABEL));
  for (const key of KEPT_LABELS) {
    const value = labels[key];
    if (value !== undefined) problems.push(...checkName(['metadata', 'labels', key], value, LABEL_VALUE));
  }
  return problems;
}

/** A port without a name is valid here: the only port of a Service needs none. */
function checkPortNames(path: FieldPath, ports: readonly (ServicePortSpec | EndpointPort)[]): readonly FieldProblem[] {
  let problems: readonly FieldProblem[] = NONE;
  for (const [i, { name }] of ports.entries()) {
    if (name && !DNS_LABEL.pattern.test(name)) {
      problems = [...problems, ...checkName([...path, i, 'name'], name, DNS_LABEL)];
    }
  }
  return problems;
}
