import { type Attempt, graceOf, judgeAttempt } from './invariants/connections.ts';
import { judgeHeldConnection } from './invariants/established.ts';
import { type HealthSample, judgeHealth, type KnownState } from './invariants/health.ts';
import { judgeUsage, usageOf } from './invariants/resources.ts';
import type { Violation } from './invariants/violation.ts';
import { maxDescriptors } from './world/modes.ts';
import type { World } from './world/world.ts';

const SAMPLE_MS = 500;
/** A process that starts on a busy machine needs this long until it answers. */
const START_MS = 15_000;
/** The proxy notices a changed configuration file, and an API server that is gone, within this time. */
const NOTICE_MS = 4000;

/** How many attempts the log gets after a violation, of all addresses: those of about ten seconds. */
const RECENT = 800;

/** Checks, all the time, what must hold all the time. */
export class Monitor {
  readonly #world: World;
  readonly #onViolation: (violation: Violation) => void;
  #timer: NodeJS.Timeout | undefined;
  #sample: Promise<void> | undefined;
  maxResidentMB = 0;
  maxDescriptors = 0;
  #attempts = 0;
  #graceMs = 0;
  #recent: Attempt[] = [];

  constructor(world: World, onViolation: (violation: Violation) => void) {
    this.#world = world;
    this.#onViolation = onViolation;
    this.#timer = setInterval(() => {
      this.#sample ??= this.#check().finally(() => {
        this.#sample = undefined;
      });
    }, SAMPLE_MS);
  }

  /** For how long endpoints that are gone might get connections, on average. A busy machine makes it longer. */
  get meanGraceMs(): number {
    return this.#graceMs / Math.max(1, this.#attempts);
  }

  /** Ends the checks, and then the clients. */
  async close(): Promise<void> {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#sample;
    this.#checkConnections();
    await this.#world.clients.close();
  }

  async #check(): Promise<void> {
    this.#world.proxy.flush();
    this.#checkConnections();
    this.#checkUsage();
    await this.#checkHealth();
  }

  #checkConnections(): void {
    const { clients, ledger, impairments, starvation } = this.#world;
    const starved = (begin: number, end: number) => starvation.waitedMs(begin, end);
    for (const attempt of ledger.isComplete ? clients.takeAttempts() : []) {
      this.#attempts++;
      this.#graceMs += graceOf(attempt, starved);
      const violation = judgeAttempt(attempt, ledger, impairments, starved);
      this.#remember(attempt);
      if (violation) this.#world.log.keep('recent attempt', this.#recentTo(attempt.address));
      this.#report(violation);
    }
    const now = performance.timeOrigin + performance.now();
    for (const { client, line } of clients.takeHeldLines()) {
      this.#report(judgeHeldConnection(client, line, impairments, now));
    }
  }

  #remember(attempt: Attempt): void {
    this.#recent.push(attempt);
    if (this.#recent.length > 2 * RECENT) this.#recent = this.#recent.slice(-RECENT);
  }

  /** What connections to the address got before, for the log. */
  #recentTo(address: string): readonly string[] {
    return this.#recent
      .filter(attempt => attempt.address === address)
      .map(({ client, begin, answer, failure }) => `${new Date(begin).toISOString()} ${client} ${answer ?? failure}`);
  }

  #checkUsage(): void {
    const { pid, mode } = this.#world.proxy;
    const usage = pid === undefined ? undefined : usageOf(pid);
    if (!usage) return;
    this.maxResidentMB = Math.max(this.maxResidentMB, Math.round(usage.residentMB));
    this.maxDescriptors = Math.max(this.maxDescriptors, usage.descriptors);
    for (const violation of judgeUsage(usage, maxDescriptors(mode))) this.#onViolation(violation);
  }

  async #checkHealth(): Promise<void> {
    const world = this.#world;
    const { pid } = world.proxy;
    const lasts = (since: number | undefined) => performance.now() - (since ?? Number.POSITIVE_INFINITY) > NOTICE_MS;
    const known = (): KnownState => {
      const isSame = world.proxy.pid === pid && pid !== undefined;
      const hasStarted = isSame && world.proxy.ageMs > START_MS;
      return {
        isRunning: hasStarted && !world.isImpaired,
        isRecovered: isSame && !world.isImpaired && world.misconfiguredAt === undefined,
        isMisconfigured: isSame && lasts(world.misconfiguredAt),
        isCutOff: hasStarted && lasts(world.apiStoppedAt),
      };
    };
    const [before, sample, after] = [known(), await this.#askHealth(), known()];
    // What changed while the proxy answered cannot be judged.
    const both = (name: keyof KnownState) => before[name] && after[name];
    for (const violation of judgeHealth(sample, {
      isRunning: both('isRunning'),
      isRecovered: both('isRecovered'),
      isMisconfigured: both('isMisconfigured'),
      isCutOff: both('isCutOff'),
    })) {
      this.#onViolation(violation);
    }
  }

  async #askHealth(): Promise<HealthSample> {
    const ask = async (path: string) =>
      this.#world.node.health(path).catch(error => ({ status: undefined, text: String(error) }));
    const livez = await ask('/livez');
    const healthz = await ask('/healthz');
    const readyz = await ask('/readyz?verbose');
    return { livez: livez.status, healthz: healthz.status, readyz: readyz.status, text: readyz.text };
  }

  #report(violation: Violation | undefined): void {
    if (violation) this.#onViolation(violation);
  }
}
