// Writes deploy/monitoring/prometheus-rule.yaml, an object for the Prometheus operator, from the rules of alerts.yaml.
//   node scripts/prometheus-rule.mjs           writes the file
//   node scripts/prometheus-rule.mjs --print   prints its text
import { readFileSync, writeFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { root } from './setup.mjs';

const FOLDER = `${root}deploy/monitoring`;

if (process.argv[2] === '--print') process.stdout.write(prometheusRule());
else writeFileSync(`${FOLDER}/prometheus-rule.yaml`, prometheusRule());

function prometheusRule() {
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
