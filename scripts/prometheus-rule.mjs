// Writes deploy/monitoring/prometheus-rule.yaml, an object for the Prometheus operator, from the rules of alerts.yaml.
//   node scripts/prometheus-rule.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { root } from './setup.mjs';

const FOLDER = `${root}deploy/monitoring`;

/** The text of prometheus-rule.yaml. */
export function prometheusRule() {
  const rules = parse(readFileSync(`${FOLDER}/alerts.yaml`, 'utf8'));
  const labels = { 'app.kubernetes.io/name': 'pointsman' };
  const object = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'pointsman', namespace: 'kube-system', labels },
    spec: rules,
  };
  return `# scripts/prometheus-rule.mjs writes this file from alerts.yaml.\n${stringify(object, { lineWidth: 0 })}`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(`${FOLDER}/prometheus-rule.yaml`, prometheusRule());
