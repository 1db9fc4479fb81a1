import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../test/control-plane/objects.ts';
import type { Recorder } from '../record/result.ts';
import { type FigureHead, repeated, single } from '../record/statistics.ts';
import { create, replace } from '../scale/api.ts';
import { serviceObject, sliceObject } from '../scale/objects.ts';
import type { Subject } from '../scale/subjects.ts';
import { type Size, sizeName } from '../support/cluster.ts';
import { EMPTY_TALLY, encodingOf, type Tally, transfersSince } from './exchange.ts';
import type { Connection, LoadStage } from './load-stage.ts';

const TIMEOUT_MS = 600_000;
/** Until a proxy has sent all requests of its start, and has received a change. */
const SETTLED_MS = 3000;
const CHANGE_PAUSE_MS = 20;
/** As many endpoints as the controller of EndpointSlices puts into one. */
const FULL_SLICE = 100;
/** A pod that no other Service has. */
const FIRST_POD = 7_000_000;

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';
export const JSON_TYPE = 'application/json';
export const DEFAULT_CONNECTION: Connection = { contentType: PROTOBUF, gzip: true };

export interface LoadEffort {
  /** Starts of each program. */
  readonly rounds: number;
  /** Changes of each kind, an even number. */
  readonly changes: number;
  readonly idleMs: number;
}

/** Measures one proxy at a time, and records what it finds. */
export class OneProxyLoad {
  readonly #stage: LoadStage;
  readonly #size: Size;
  readonly #effort: LoadEffort;
  readonly #recorder: Recorder;

  constructor(stage: LoadStage, size: Size, effort: LoadEffort, recorder: Recorder) {
    this.#stage = stage;
    this.#size = size;
    this.#effort = effort;
    this.#recorder = recorder;
  }

  /** The proxy of the last start runs afterwards. */
  async measureStarts(
    part: string,
    subject: Subject,
    connection: Connection,
    rounds = this.#effort.rounds,
  ): Promise<void> {
    const stage = this.#stage;
    const cpu: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      await stage.stopProxy();
      const meter = await stage.meterApiserver();
      await this.#start(subject, connection);
      cpu.push(meter.workMs());
    }
    const tally = await stage.tally();
    this.#recordTransfers(part, subject, tally, EMPTY_TALLY, 1);
    this.#recorder.add(repeated(this.#head(part, subject, "API server's processor", 'ms', 'estimate'), cpu));
    this.#recorder.note(`${subject.name}: ${part}`, encodingOf(tally));
  }

  /** Starts a proxy for the measurements that follow. */
  async startAgain(subject: Subject): Promise<void> {
    await this.#stage.stopProxy();
    await this.#start(subject, DEFAULT_CONNECTION);
  }

  async #start(subject: Subject, connection: Connection): Promise<void> {
    const proxy = await this.#stage.startProxy(subject, connection);
    await proxy.firstSync(TIMEOUT_MS);
    await sleep(SETTLED_MS);
  }

  async measureIdle(subject: Subject): Promise<void> {
    const before = await this.#stage.tally();
    await sleep(this.#effort.idleMs);
    const now = await this.#stage.tally();
    const minutes = this.#effort.idleMs / 60_000;
    const transfers = transfersSince(now, before);
    const requests = transfers.reduce((sum, transfer) => sum + transfer.requests, 0);
    // A bookmark more or less makes a difference.
    const estimate = this.#head('idle minute', subject, 'bytes with TLS and HTTP/2', 'bytes', 'estimate');
    this.#recorder.add(
      single(this.#head('idle minute', subject, 'requests', '', 'count'), requests / minutes),
      single(estimate, (now.wireBytes - before.wireBytes) / minutes),
    );
  }

  async measureChanges(subject: Subject): Promise<void> {
    const { services, endpoints } = this.#size;
    if (services === 0) return;
    const pods = Math.max(1, endpoints);
    // Each object goes back and forth between two states, so that all programs receive the same changes.
    const slice = (i: number) => sliceObject(0, 0, FIRST_POD, pods, { shift: i % 2 });
    const fullSlice = (i: number) => sliceObject(services, 0, FIRST_POD, FULL_SLICE, { shift: i % 2 });
    await this.#ensure(serviceObject(services));
    await this.#ensure(fullSlice(0));
    await this.#measureChange(`change of a slice with ${pods} endpoints`, subject, slice);
    await this.#measureChange(`change of a slice with ${FULL_SLICE} endpoints`, subject, fullSlice);
    await this.#measureChange('change of a Service', subject, i => changedService(0, i));
  }

  async #ensure(object: KubeObject): Promise<void> {
    await create(this.#stage.cluster, object);
    await sleep(SETTLED_MS);
  }

  async #measureChange(part: string, subject: Subject, changed: (i: number) => KubeObject): Promise<void> {
    const { changes } = this.#effort;
    const before = await this.#stage.tally();
    for (let i = 1; i <= changes; i++) {
      await replace(this.#stage.cluster, changed(i));
      await sleep(CHANGE_PAUSE_MS);
    }
    await sleep(SETTLED_MS);
    this.#recordTransfers(part, subject, await this.#stage.tally(), before, changes, false);
  }

  #recordTransfers(
    part: string,
    subject: Subject,
    now: Tally,
    before: Tally,
    divisor: number,
    byResource = true,
  ): void {
    const transfers = transfersSince(now, before);
    const total = (pick: (transfer: (typeof transfers)[number]) => number) =>
      transfers.reduce((sum, transfer) => sum + pick(transfer), 0);
    const add = (name: string, unit: string, kind: FigureHead['kind'], value: number) =>
      this.#recorder.add(single(this.#head(part, subject, name, unit, kind), value / divisor));
    add(
      'requests',
      '',
      'count',
      total(({ requests }) => requests),
    );
    add(
      'bytes of bodies',
      'bytes',
      'size',
      total(({ bytes }) => bytes),
    );
    add('bytes with TLS and HTTP/2', 'bytes', 'size', now.wireBytes - before.wireBytes);
    if (!byResource) return;
    add('connections', '', 'count', now.connections - before.connections);
    for (const { resource, requests, bytes } of transfers) {
      add(`requests for ${resource}`, '', 'count', requests);
      add(`bytes for ${resource}`, 'bytes', 'size', bytes);
    }
  }

  #head(part: string, { name: subject }: Subject, name: string, unit: string, kind: FigureHead['kind']): FigureHead {
    return { part, size: sizeName(this.#size), subject, name, unit, kind };
  }
}

/** Session affinity comes and goes, which every proxy has to write to its rules. */
function changedService(index: number, i: number): KubeObject {
  const service = serviceObject(index);
  const spec = typeof service.spec === 'object' ? service.spec : {};
  return { ...service, spec: { ...spec, sessionAffinity: i % 2 === 1 ? 'ClientIP' : 'None' } };
}
