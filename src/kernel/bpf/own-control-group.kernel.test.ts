import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { OwnControlGroup } from './own-control-group.ts';

const place = () => /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? assert.fail('no cgroup2');

test('BPF-15 a process enters a control group of its own and leaves nothing behind', () => {
  const former = place();
  const group = OwnControlGroup.enter();
  assert.ok(group instanceof OwnControlGroup);
  try {
    assert.equal(place(), join(former, `pointsman-demo-${process.pid}`));
    assert.equal(basename(group.path), `pointsman-demo-${process.pid}`);
    assert.deepEqual(readFileSync(join(group.path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean), [
      `${process.pid}`,
    ]);
  } finally {
    group.leave();
  }
  assert.deepEqual([place(), existsSync(group.path)], [former, false]);
});

test('BPF-15 a group that a killed process left behind is removed, and that of a running process stays', () => {
  const first = OwnControlGroup.enter();
  assert.ok(first instanceof OwnControlGroup);
  const folder = dirname(first.path);
  first.leave();
  const abandoned = join(folder, 'pointsman-demo-999999999');
  const running = join(folder, `pointsman-demo-${process.ppid}`);
  for (const path of [abandoned, running]) mkdirSync(path);
  const second = OwnControlGroup.enter();
  assert.ok(second instanceof OwnControlGroup);
  second.leave();
  assert.deepEqual(
    [abandoned, running].map(path => existsSync(path)),
    [false, true],
  );
  rmdirSync(running);
});
