import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeconfigFolder } from '../../../test/support/kubeconfig.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { silentLog } from '../client-log.ts';
import { ReloadedFile } from './reloaded-file.ts';

test('CLIENT-5 a file is read at most once a minute, however long the process runs', async () => {
  const folder = new KubeconfigFolder();
  try {
    const clock = new ManualClock();
    await clock.advance(3_600_000);
    const file = new ReloadedFile(folder.write('token', 'one'), clock, silentLog);
    assert.equal(file.read(), 'one');
    folder.write('token', 'two');
    await clock.advance(59_999);
    assert.equal(file.read(), 'one');
    await clock.advance(1);
    assert.equal(file.read(), 'two');
  } finally {
    folder.close();
  }
});
