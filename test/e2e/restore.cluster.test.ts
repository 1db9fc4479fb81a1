import { test } from 'node:test';
import { service, slice } from './objects.ts';
import { Stage } from './stage.ts';

const IP = '10.96.2.1';
const NEW_IP = '10.96.2.2';
const POD_A = '10.244.1.20';
const POD_B = '10.244.1.21';
/** The proxy checks the version of a server that was away within ten seconds. */
const RECOVERY_MS = 20_000;

test('E2E-38 after etcd was restored from an older copy, the kernel soon agrees with the objects again', async () => {
  const stage = await Stage.open();
  try {
    const { cluster } = stage;
    await cluster.apply(service('web', IP));
    await cluster.apply(slice('web-1', [POD_A]));
    await cluster.etcd.backUp();
    await stage.run();
    // An API server that starts writes hundreds of versions. It must not reach the version of the proxy's watches.
    await cluster.etcd.skipVersions(5000);
    await cluster.apply(slice('web-1', [POD_B]));
    await stage.untilEndpoints(IP, [POD_B]);

    await cluster.stopApiserver('SIGKILL');
    await cluster.etcd.restore();
    await cluster.startApiserver();
    await cluster.apply(service('new', NEW_IP));
    await cluster.apply(slice('new-1', [POD_B]));
    await stage.untilEndpoints(NEW_IP, [POD_B], RECOVERY_MS);
    await stage.untilEndpoints(IP, [POD_A], RECOVERY_MS);

    await cluster.apply(slice('web-1', [POD_B]));
    await stage.untilEndpoints(IP, [POD_B]);
  } finally {
    await stage.close();
  }
});
