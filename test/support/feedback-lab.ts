import { type EjectionReport, Feedback } from '../../src/feedback/index.ts';
import { type Flow, type FlowEventHandlers, type FlowFilter, L4, Status } from '../../src/kernel/conntrack/index.ts';
import { errorText } from '../../src/lib/error-text.ts';
import type { Algorithm } from '../../src/model/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { DEFAULT_PLAN_SETTINGS, slotsOf } from '../../src/plan/index.ts';
import { ProxyState } from '../../src/proxy/index.ts';
import { ManualClock } from './manual-clock.ts';
import { service, slice } from './objects.ts';

/** Feedback beside the state of a proxy, with the Service `web`. Tests play the kernel. Plans follow at once. */
export class FeedbackLab {
  readonly clock = new ManualClock();
  readonly replanned: string[] = [];
  readonly ejections: EjectionReport[] = [];
  readonly errors: string[] = [];
  /** What the proxy asked the kernel's table for. */
  readonly looks: FlowFilter[] = [];
  /** The kernel's table. */
  flows: readonly Flow[] = [];
  openTables = 0;
  eventLosses = 0;
  readonly feedback: Feedback;
  readonly state: ProxyState;
  #nextFlow = 1;
  #events: FlowEventHandlers | undefined;

  constructor({ needsConnectionFeedback = false } = {}) {
    this.feedback = new Feedback({
      clock: this.clock,
      needsConnectionFeedback,
      plansOf: (family, key) => this.state.family(family).planner.plansOf(key),
      replan: (family, key) => {
        this.replanned.push(`${this.clock.elapsed()} ${family} ${key}`);
        this.state.replan(family, key);
        this.state.takeFamily(family);
      },
      ejectionChanged: report => this.ejections.push(report),
      eventsLost: () => this.eventLosses++,
      onError: (action, error) => this.errors.push(`${action}: ${errorText(error)}`),
      open: () => this.#openTable(),
      listen: handlers => this.#listen(handlers),
    });
    const settings = DEFAULT_PLAN_SETTINGS;
    const report = () => {};
    this.state = new ProxyState({ nodeName: 'node-a', settings, startedAt: 0, report, feedback: this.feedback });
  }

  /** Takes effect with the next take. */
  setService(annotations: Readonly<Record<string, string>>): void {
    this.state.serviceChanged({ type: 'added', to: service('web', { annotations }) });
  }

  setEndpoints(ips: readonly string[]): void {
    this.state.endpointSliceChanged({ type: 'added', to: slice('web-1', ips) });
    this.state.take();
  }

  setDefault(defaultAlgorithm: Algorithm | undefined): void {
    this.state.setSettings({ ...DEFAULT_PLAN_SETTINGS, defaultAlgorithm });
    this.state.take();
  }

  /** How many slots an endpoint has. */
  count(ip: string): number {
    return this.slots().filter(slot => slot === ip).length;
  }

  slots(): readonly string[] {
    const [plan] = this.state.family('IPv4').planner.plansOf('default/web');
    return plan ? slotsOf(plan).cluster.map(({ ip }) => ip) : [];
  }

  /** A flow to an endpoint. */
  flow(ip: string): Flow {
    const original = { src: '10.0.0.1' as Ip, dst: '10.96.0.1' as Ip, srcPort: 1000, dstPort: 80 };
    const reply = { src: ip as Ip, dst: '10.0.0.1' as Ip, srcPort: 8080, dstPort: 1000 };
    const id = this.#nextFlow++;
    const status = Status.CONFIRMED;
    return { family: 'IPv4', protocol: L4.TCP, original, reply, id, status, state: 'ESTABLISHED' };
  }

  /** A client sends the first packet to an endpoint. Returns the flow. */
  call(ip: string): Flow {
    const flow = this.flow(ip);
    this.#events?.event({ type: 'new', flow });
    return flow;
  }

  get isSubscribed(): boolean {
    return this.#events !== undefined;
  }

  loseEvents(): void {
    this.#events?.overrun();
  }

  failEvents(error: Error): void {
    this.#events?.failed(error);
  }

  refuse(ip: string): void {
    const flow = this.call(ip);
    this.#events?.event({ type: 'destroyed', flow });
  }

  accept(ip: string): void {
    const flow = this.call(ip);
    this.#events?.event({ type: 'updated', flow: { ...flow, status: Status.CONFIRMED | Status.SEEN_REPLY } });
  }

  #openTable() {
    this.openTables++;
    const lab = this;
    return {
      async *batchesInBackground(filter: FlowFilter) {
        lab.looks.push(filter);
        yield lab.flows;
      },
      close: () => {
        this.openTables--;
      },
    };
  }

  #listen(handlers: FlowEventHandlers) {
    this.#events = handlers;
    return {
      close: () => {
        this.#events = undefined;
      },
    };
  }
}
