import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../test/control-plane/objects.ts';
import { quantiles, single } from '../record/statistics.ts';
import { create, inParallel, remove, replace } from './api.ts';
import { serviceObject, sliceObject, sliceObjects } from './objects.ts';
import { CpuMeter } from './one-change.ts';
import { sharedMs } from './running-proxy.ts';
import type { Stage } from './stage.ts';
import type { Subject } from './subjects.ts';

const LARGE = 5000;
const PER_SLICE = 100;
/** Its pods. No other Service has them. */
const FIRST_POD = 6_000_000;
const LOST = 1000;

/**
 * One Service with 5,000 endpoints: it comes, and then single endpoints change. The change of the probe right behind is
 * visible only when the proxy has written the change before it.
 */
export async function measureLargeService(stage: Stage, subject: Subject): Promise<void> {
  const { cluster, proxy, recorder, probe, effort } = stage;
  const part = `one Service with ${LARGE} endpoints`;
  const index = stage.size.services + 1;
  const slices = (without: number) => largeSlices(index, without);
  await probe.prepare();
  const coming = await CpuMeter.start(proxy);
  await create(cluster, serviceObject(index));
  await inParallel(slices(0).length, async i => create(cluster, at(slices(0), i)));
  const created = await probe.gain();
  await sleep(effort.settleMs);
  const head = (name: string) => stage.head(part, subject, { name, unit: 'ms', kind: 'time' });
  recorder.add(
    single(head("it comes, from the API server's last answer"), created.fromRequest),
    single(head('it comes, processor'), coming.workMs()),
  );
  const changes: number[] = [];
  let cpu = 0;
  for (let i = 0; i < effort.changes; i++) {
    await probe.prepare();
    const meter = await CpuMeter.start(proxy);
    await replace(cluster, at(slices(i % 2 === 0 ? 1 : 0), 0));
    changes.push((await probe.gain()).fromRequest);
    await sleep(effort.settleMs);
    cpu += meter.workMs();
  }
  recorder.add(...quantiles(head('one endpoint changes'), changes));
  recorder.add(single(head('one endpoint changes, processor'), cpu / effort.changes));
  await inParallel(slices(0).length, async i => remove(cluster, at(slices(0), i)));
  await remove(cluster, serviceObject(index));
  await sleep(effort.settleMs);
}

/** A node with 1,000 endpoints is lost: 1,000 slices lose one endpoint each, at once. */
export async function measureNodeLoss(stage: Stage, subject: Subject): Promise<void> {
  const { cluster, proxy, recorder, probe, size, effort } = stage;
  if (size.services < LOST) return;
  const part = `loss of a node with ${LOST} endpoints`;
  const change = (without: number) =>
    inParallel(LOST, async i => replace(cluster, at(sliceObjects(i, size.endpoints, { without }), 0)));
  await probe.prepare();
  const meter = await CpuMeter.start(proxy);
  const start = sharedMs();
  await change(1);
  const answered = sharedMs();
  const { fromRequest } = await probe.gain();
  await sleep(effort.settleMs);
  const head = (name: string) => stage.head(part, subject, { name, unit: 'ms', kind: 'time' });
  recorder.add(
    single(head('API server'), answered - start),
    single(head("from the API server's last answer"), fromRequest),
    single(head('processor'), meter.workMs()),
  );
  await change(0);
  await sleep(effort.settleMs);
}

/** The slices of the large Service. The first one is `without` so many endpoints. */
function largeSlices(index: number, without: number): readonly KubeObject[] {
  return Array.from({ length: LARGE / PER_SLICE }, (_, i) =>
    sliceObject(index, i, FIRST_POD + i * PER_SLICE, PER_SLICE, { without: i === 0 ? without : 0 }),
  );
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index];
  if (value === undefined) throw new RangeError(`there is no item ${index}`);
  return value;
}
