import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { nodeNames } from './addresses.ts';
import { NodeControlGroup, unifiedPath } from './control-groups.ts';
import { clusterFolder, removeLeftovers } from './leftovers.ts';

describe('what a killed run leaves', () => {
  test('CONFORM-7 the next run removes the files and control groups of a process that is gone', async () => {
    const { pid } = spawnSync('true');
    const [name = ''] = nodeNames(pid);
    new NodeControlGroup(name);
    mkdirSync(`${unifiedPath(name)}/kubepods`, { recursive: true });
    mkdirSync(clusterFolder(pid));
    mkdirSync(clusterFolder(process.pid));
    try {
      await removeLeftovers();
      assert.equal(existsSync(unifiedPath(name)), false);
      assert.equal(existsSync(clusterFolder(pid)), false);
      assert.equal(existsSync(clusterFolder(process.pid)), true, 'the folder of a process that runs stays');
    } finally {
      spawnSync('rm', ['-rf', clusterFolder(process.pid)]);
    }
  });
});
