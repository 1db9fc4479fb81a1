import type { Service } from '../../src/api/index.ts';
import {
  type FollowingProblem,
  Informer,
  type InformerHandler,
  type ObjectProblem,
  type Resource,
} from '../../src/client/informer/index.ts';
import { FakeApi } from './fake-api.ts';
import { ManualClock } from './manual-clock.ts';

export const SERVICES: Resource<Service> = { kind: 'Service', apiVersion: 'v1', path: '/api/v1/services' };

export interface InformerCaseOptions {
  readonly resource?: Resource<Service>;
  readonly resyncMs?: number;
  readonly random?: () => number;
}

/** For tests: an informer of Services, an API server that answers as told, and what handlers and reports say. */
export class InformerCase {
  readonly api = new FakeApi();
  readonly clock = new ManualClock(1_000_000);
  readonly told: string[] = [];
  readonly problems: FollowingProblem[] = [];
  readonly waits: FollowingProblem[] = [];
  readonly recovered: string[] = [];
  readonly unusable: ObjectProblem[] = [];
  readonly usable: string[] = [];
  heard = 0;
  readonly informer: Informer<Service>;

  constructor({ resource = SERVICES, resyncMs = 0, random = () => 0 }: InformerCaseOptions = {}) {
    this.informer = new Informer({
      client: this.api,
      resource,
      accept: 'application/json',
      resyncMs,
      random,
      clock: this.clock,
      report: {
        problem: problem => this.problems.push(problem),
        waiting: problem => this.waits.push(problem),
        recovered: where => this.recovered.push(where),
        unusable: problem => this.unusable.push(problem),
        usable: where => this.usable.push(where),
        heard: () => this.heard++,
      },
    });
    this.informer.addHandler(teller(this.told));
  }

  /** What was told since the last call. */
  takeTold(): string[] {
    return this.told.splice(0);
  }

  /** Lets promises settle. */
  settle(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Follows from the first list on, which brings these objects; gives the request that is now the watch. */
  async follow(...objects: readonly object[]) {
    this.informer.start();
    await this.settle();
    const watch = this.api.next();
    watch.answer();
    watch.send(...objects.map(added), initialEnd('10'));
    await this.settle();
    this.takeTold();
    return watch;
  }
}

/** Runs a test with an informer, and closes it. */
export async function withInformer(
  act: (parts: InformerCase) => Promise<void>,
  options: InformerCaseOptions = {},
): Promise<void> {
  const parts = new InformerCase(options);
  try {
    await act(parts);
  } finally {
    await parts.informer.close();
  }
}

export function teller(told: string[]): InformerHandler<Service> {
  const title = ({ metadata: { name, resourceVersion } }: Service) => `${name}@${resourceVersion}`;
  return {
    changed(change) {
      if (change.type === 'added') told.push(`added ${title(change.to)}`);
      else if (change.type === 'updated') told.push(`updated ${title(change.from)} ${title(change.to)}`);
      else told.push(`removed ${title(change.from)}`);
    },
    synced: () => told.push('synced'),
  };
}

/** A Service as JSON has it, `name@version`; what is given besides is its spec. */
export function service(title: string, spec: object = {}): object {
  const [name = '', resourceVersion = ''] = title.split('@');
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop', resourceVersion },
    spec: { type: 'ClusterIP', clusterIP: '10.96.0.1', ports: [{ port: 80 }], ...spec },
  };
}

export function list(resourceVersion: string, items: readonly object[], continueToken = ''): object {
  return {
    kind: 'ServiceList',
    apiVersion: 'v1',
    metadata: { resourceVersion, ...(continueToken !== '' && { continue: continueToken }) },
    items,
  };
}

export const added = (object: object) => ({ type: 'ADDED', object });
export const modified = (object: object) => ({ type: 'MODIFIED', object });
export const deleted = (object: object) => ({ type: 'DELETED', object });
export const failed = (object: object) => ({ type: 'ERROR', object });

export function bookmark(resourceVersion: string, annotations: object = {}): object {
  return {
    type: 'BOOKMARK',
    object: { kind: 'Service', apiVersion: 'v1', metadata: { resourceVersion, annotations } },
  };
}

export function initialEnd(resourceVersion: string): object {
  return bookmark(resourceVersion, { 'k8s.io/initial-events-end': 'true' });
}

/** Until the informer streams its first list, which is then refused so that it lists. */
export async function untilList({ informer, api, clock }: InformerCase) {
  informer.start();
  await clock.advance(0);
  api.next().refuse(422, 'Invalid', 'sendInitialEvents is forbidden');
  await clock.advance(0);
  return api.next();
}
