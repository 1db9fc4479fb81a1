import type { Service } from '../../src/api/index.ts';
import { type ApiProblem, Informer, type InformerHandler, type Resource } from '../../src/client/informer/index.ts';
import { FakeApi } from './fake-api.ts';
import { ManualClock } from './manual-clock.ts';

export const SERVICES: Resource<Service> = { kind: 'Service', apiVersion: 'v1', path: '/api/v1/services' };

export interface InformerCaseOptions {
  readonly resource?: Resource<Service>;
  readonly resyncMs?: number;
  readonly random?: () => number;
}

/** For tests: an informer of Services, a fake API server, and everything that handlers and the reporter received. */
export class InformerCase {
  readonly api = new FakeApi();
  readonly clock = new ManualClock(1_000_000);
  /** What the handler received: `added a@1`, `updated a@1 a@2`, `removed a@2`, `synced`. */
  readonly changes: string[] = [];
  readonly failures: ApiProblem[] = [];
  readonly unavailable: ApiProblem[] = [];
  readonly stalls: ApiProblem[] = [];
  readonly recovered: string[] = [];
  readonly unusableObjects: ApiProblem[] = [];
  readonly recoveredObjects: string[] = [];
  /** How often data was received. */
  dataCount = 0;
  readonly informer: Informer<Service>;

  constructor({ resource = SERVICES, resyncMs = 0, random = () => 0 }: InformerCaseOptions = {}) {
    this.informer = new Informer({
      client: this.api,
      resource,
      accept: 'application/json',
      resyncMs,
      random,
      clock: this.clock,
      reporter: {
        watchFailed: problem => this.failures.push(problem),
        optionalUnavailable: problem => this.unavailable.push(problem),
        watchStalled: problem => this.stalls.push(problem),
        watchRecovered: path => this.recovered.push(path),
        objectUnusable: problem => this.unusableObjects.push(problem),
        objectRecovered: path => this.recoveredObjects.push(path),
        dataReceived: () => this.dataCount++,
      },
    });
    this.informer.addHandler(recordingHandler(this.changes));
  }

  /** The changes since the last call. */
  takeChanges(): string[] {
    return this.changes.splice(0);
  }

  /** Starts the informer and returns its first request. */
  async start() {
    this.informer.start();
    await this.clock.advance(0);
    return this.api.next();
  }

  /** Starts the informer with a streaming list of these objects. Returns the request, which is now the watch. */
  async startWatch(...objects: readonly object[]) {
    const watch = await this.start();
    watch.answer();
    watch.send(...objects.map(added), initialEnd('10'));
    await this.clock.advance(0);
    this.takeChanges();
    return watch;
  }

  /** Starts the informer and refuses its streaming list. Returns the request for a plain list that follows. */
  async startPlainList() {
    const streamingList = await this.start();
    streamingList.refuse(422, 'Invalid', 'sendInitialEvents is forbidden');
    await this.clock.advance(0);
    return this.api.next();
  }
}

/** Runs a test with an informer, and closes the informer. */
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

/** A handler that writes each call as a line into `changes`. */
export function recordingHandler(changes: string[]): InformerHandler<Service> {
  const title = ({ metadata: { name, resourceVersion } }: Service) => `${name}@${resourceVersion}`;
  return {
    changed(change) {
      if (change.type === 'added') changes.push(`added ${title(change.to)}`);
      else if (change.type === 'updated') changes.push(`updated ${title(change.from)} ${title(change.to)}`);
      else changes.push(`removed ${title(change.from)}`);
    },
    synced: () => changes.push('synced'),
  };
}

/** A Service as JSON has it. The title is `name@version`. */
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

/** The bookmark that ends the objects of a streaming list. */
export function initialEnd(resourceVersion: string): object {
  return bookmark(resourceVersion, { 'k8s.io/initial-events-end': 'true' });
}
