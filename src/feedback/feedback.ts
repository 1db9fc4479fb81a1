import type { Change } from '../lib/change.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { NONE } from '../lib/none.ts';
import { ReportOnce } from '../lib/report-once.ts';
import type { Algorithm, Model, ServicePort, ServiceState } from '../model/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import {
  type BalanceOptions,
  endpointsOf,
  type LiveEndpoints,
  planId,
  type ServicePortPlan,
  samePort,
} from '../plan/index.ts';
import type { EjectionReport, LeftOut } from './ejection-report.ts';
import { type Ejection, FailedConnections, type FailedConnectionsOptions } from './failed-connections.ts';
import { LeastConnections, type LeastConnectionsOptions } from './least-connections.ts';
import { StepTimer } from './step-timer.ts';
import { WatchedPort } from './watched-port.ts';

export interface FeedbackOptions
  extends Pick<LeastConnectionsOptions, 'namespace' | 'open'>,
    Pick<FailedConnectionsOptions, 'listen'> {
  readonly clock?: Clock | undefined;
  /** For least connections the mode takes turns over shares, because it does not count connections itself. */
  readonly needsConnectionFeedback?: boolean | undefined;
  plansOf(family: Family, service: string): readonly ServicePortPlan[];
  /** The endpoints of a Service have other shares now, so the proxy must plan the Service again. */
  replan(family: Family, service: string): void;
  ejectionChanged?(report: EjectionReport): void;
  /** The kernel dropped events about connections. */
  eventsLost?(): void;
  /** `action` has a verb: `count open connections`. */
  onError(action: string, error: unknown): void;
}

/**
 * What the proxy learns about endpoints while it runs. It watches only service ports whose Service asks for it. Without
 * such a Service it has no timer and no socket.
 */
export class Feedback {
  readonly #options: FeedbackOptions;
  readonly #clock: Clock;
  readonly #ports: Readonly<Record<Family, Map<string, WatchedPort>>> = { IPv4: new Map(), IPv6: new Map() };
  readonly #defaults = new Map<Family, Algorithm | undefined>();
  readonly #reported = new ReportOnce();
  readonly #steps: StepTimer;
  readonly #leastConnections: LeastConnections;
  readonly #failedConnections: FailedConnections;
  #isClosed = false;

  constructor(options: FeedbackOptions) {
    this.#options = options;
    const { clock = systemClock, namespace, open, listen } = options;
    // The parts retry for ever, so the same error would come again and again.
    const onError = (action: string, error: unknown) => {
      if (this.#reported.add(action, errorText(error))) options.onError(action, error);
    };
    this.#clock = clock;
    const replan = ({ family, service }: WatchedPort) => options.replan(family, service);
    this.#steps = new StepTimer({
      clock,
      ports: () => this.#all(),
      sharesChanged: replan,
      returned: (port, endpoint) => this.#report(port, endpoint),
    });
    this.#leastConnections = new LeastConnections({
      clock,
      namespace,
      open,
      ports: () => [...this.#all()].filter(({ algorithm }) => this.#needsConnections(algorithm)),
      plansOf: ({ family, service }) => options.plansOf(family, service),
      sharesChanged: replan,
      onError: error => onError('count open connections', error),
    });
    this.#failedConnections = new FailedConnections({
      clock,
      namespace,
      listen,
      ejected: ejection => this.#ejected(ejection),
      overrun: () => options.eventsLost?.(),
      onError: error => onError('follow new connections', error),
    });
  }

  /** What the plans of a family need to know. */
  of(family: Family): LiveEndpoints {
    const ports = this.#ports[family];
    return {
      get isEmpty() {
        return ports.size === 0;
      },
      of: id => ports.get(id),
    };
  }

  /** Services changed, or the default did. Their plans follow. */
  changed(
    model: Pick<Model, 'family' | 'services'>,
    changes: readonly Change<ServiceState>[],
    { defaultAlgorithm }: BalanceOptions,
  ): void {
    const { family } = model;
    const hasNewDefault = this.#defaults.get(family) !== defaultAlgorithm;
    this.#defaults.set(family, defaultAlgorithm);
    const wasWatching = this.#ports[family].size > 0;
    for (const change of changes) this.#serviceChanged(family, change);
    if (hasNewDefault) for (const state of model.services()) this.#defaultChanged(family, state);
    if (this.#isClosed || (!wasWatching && this.#ports[family].size === 0)) return;
    this.#steps.update();
    this.#leastConnections.update();
    this.#failedConnections.update();
  }

  /** The last sync may still bring changes. They begin nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#steps.close();
    this.#failedConnections.close();
    await this.#leastConnections.close();
  }

  #serviceChanged(family: Family, change: Change<ServiceState>): void {
    const from = change.type === 'added' ? undefined : change.from;
    const to = change.type === 'removed' ? undefined : change.to;
    if (from && this.#ports[family].size > 0) {
      for (const port of from.ports) {
        if (!to?.ports.some(other => samePort(other, port))) this.#forget(family, from.key, port);
      }
    }
    if (to) for (const port of to.ports) this.#portChanged(family, port, from, to);
  }

  #defaultChanged(family: Family, state: ServiceState): void {
    for (const port of state.ports) this.#portChanged(family, port, state, state);
  }

  #portChanged(family: Family, port: ServicePort, from: ServiceState | undefined, to: ServiceState): void {
    const algorithm = port.options.algorithm ?? this.#defaults.get(family);
    if (!this.#isWatched(port, algorithm)) {
      this.#forget(family, to.key, port);
      return;
    }
    const ports = this.#ports[family];
    const id = planId({ service: to.key, port });
    const watched = ports.get(id) ?? new WatchedPort(family, to.key, id, port, () => this.#clock.elapsed());
    ports.set(id, watched);
    const before = from?.ports.some(other => samePort(other, port)) ? endpointsOf(from, port) : NONE;
    watched.changed(port, algorithm, before, endpointsOf(to, port));
    this.#failedConnections.changed(watched);
  }

  #forget(family: Family, service: string, port: ServicePort): void {
    if (this.#ports[family].size === 0) return;
    const id = planId({ service, port });
    const watched = this.#ports[family].get(id);
    if (watched) this.#failedConnections.forget(watched);
    this.#ports[family].delete(id);
  }

  /** The Service asks for something that depends on what happens to the endpoints. */
  #isWatched({ options }: ServicePort, algorithm: Algorithm | undefined): boolean {
    const { slowStartSeconds, ejectAfter } = options;
    return slowStartSeconds > 0 || ejectAfter > 0 || this.#needsConnections(algorithm);
  }

  #needsConnections(algorithm: Algorithm | undefined): boolean {
    return algorithm === 'least-connections' && this.#options.needsConnectionFeedback === true;
  }

  #ejected({ port, endpoint, cause, milliseconds }: Ejection): void {
    this.#report(port, endpoint, { cause, failures: port.ejectAfter, seconds: milliseconds / 1000 });
    this.#options.replan(port.family, port.service);
    this.#steps.update();
  }

  #report({ family, service, name }: WatchedPort, endpoint: string, leftOut?: LeftOut): void {
    this.#options.ejectionChanged?.({ family, service, port: name, endpoint, leftOut });
  }

  *#all(): Generator<WatchedPort> {
    for (const family of FAMILIES) yield* this.#ports[family].values();
  }
}
