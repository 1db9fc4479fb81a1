import { single } from '../record/statistics.ts';
import type { Stage } from './stage.ts';
import type { Subject } from './subjects.ts';

const PART = 'restart';
const TIMEOUT_MS = 600_000;

/** Ends the proxy and starts it again, with the rules that it left in the kernel. Connections go on meanwhile. */
export async function measureRestart(stage: Stage, subject: Subject): Promise<void> {
  await stage.connector.watch(stage.probe.address);
  await stage.stopProxy();
  const proxy = stage.startProxy(subject);
  const firstSync = await proxy.firstSync(TIMEOUT_MS);
  const cpu = proxy.cpuMs();
  const { failures } = await stage.connector.watched();
  stage.recorder.add(
    single(stage.head(PART, subject, { name: 'first sync', unit: 'ms', kind: 'time' }), firstSync),
    single(stage.head(PART, subject, { name: 'processor', unit: 'ms', kind: 'time' }), cpu),
    single(stage.head(PART, subject, { name: 'failed connections', unit: '', kind: 'count' }), failures),
  );
}
