import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { DEFAULT_SOCKET } from '../../src/inspect/index.ts';

const FOLDER = dirname(DEFAULT_SOCKET);

test('INSPECT-23 the pods of deploy/ have an emptyDir at the folder of the socket, beside a read-only root', () => {
  const { spec } = parse(readFileSync('deploy/kustomize/base/daemon-set.yaml', 'utf8')).spec.template;
  const [container] = spec.containers;
  assert.equal(container.securityContext.readOnlyRootFilesystem, true);
  const mount = container.volumeMounts.find(({ mountPath }: { mountPath: string }) => mountPath === FOLDER);
  assert.ok(mount && !mount.readOnly);
  assert.ok(spec.volumes.find(({ name }: { name: string }) => name === mount.name).emptyDir);
  // A cluster test compares the objects of the chart and of kustomize. It needs helm.
  const chart = readFileSync('deploy/chart/templates/daemon-set.yaml', 'utf8');
  assert.ok(chart.includes(`- name: ${mount.name}\n              mountPath: ${FOLDER}\n`));
  assert.ok(chart.includes(`- name: ${mount.name}\n          emptyDir: `));
});
