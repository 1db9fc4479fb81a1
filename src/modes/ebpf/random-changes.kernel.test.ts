import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangingServices, ENDPOINT_PORT, NODE_PORT_IP, type Served } from '../../../test/support/changing-services.ts';
import { type Attempt, ConnectingProcess } from '../../../test/support/connecting-process.ts';
import { EbpfLab } from '../../../test/support/ebpf-mode.ts';
import { loopbackOf, withRoutes } from '../../../test/support/namespaces.ts';
import { randomNumbers } from '../../../test/support/random-numbers.ts';
import { familyOf } from '../../net/index.ts';

const CHANGES = 10_000;
/** A sync takes up to this many changes at once. */
const MAX_CHANGES_PER_SYNC = 12;
/** After so many changes the mode starts anew, or gets a Service for which the maps are too small. */
const [RESTART_EVERY, LARGE_EVERY] = [1500, 3500];

const MIN_ATTEMPTS = 1000;

const [REFUSED, UNREACHABLE] = ['errno 111', 'errno 101'];

/** What a destination serves from the start of one sync to the end of the next. */
interface Period {
  readonly from: number;
  readonly served: Served;
  until: number;
}

/** The periods of every destination. */
class History {
  readonly #periods: readonly Period[][];

  constructor(served: readonly Served[]) {
    const until = Number.POSITIVE_INFINITY;
    this.#periods = served.map(served => [{ from: 0, until, served }]);
  }

  /** A sync that began at `from` has just ended. */
  synced(from: number, served: readonly Served[]): void {
    const now = Number(process.hrtime.bigint());
    for (const [i, periods] of this.#periods.entries()) {
      const last = periods.at(-1);
      const next = served[i];
      if (!last || !next || isSame(last.served, next)) continue;
      last.until = now;
      periods.push({ from, until: Number.POSITIVE_INFINITY, served: next });
    }
  }

  /** Everything that the destination served at some moment between two times. */
  between(destination: number, start: number, end: number): readonly Served[] {
    const periods = this.#periods[destination] ?? [];
    // The ends of periods are in order, so the first that reaches the time is found by halves.
    let [low, high] = [0, periods.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((periods[middle]?.until ?? 0) < start) low = middle + 1;
      else high = middle;
    }
    const served: Served[] = [];
    for (const period of periods.slice(low)) {
      if (period.from > end) break;
      served.push(period.served);
    }
    return served;
  }
}

/** Everything that the target of a destination depends on. */
function isSame(a: Served, b: Served): boolean {
  return (
    a.owner === b.owner &&
    a.hasAffinity === b.hasAffinity &&
    a.isLeastConnections === b.isLeastConnections &&
    a.endpoints === b.endpoints
  );
}

/** A connection may get what the destination's Service had at some moment of the call. */
function isAllowed({ destination, start, end, result }: Attempt, history: History): boolean {
  const states = history.between(destination, start, end);
  const owners = states.flatMap(({ owner }) => owner ?? []);
  const serving = owners.flatMap(owner =>
    history.between(ChangingServices.clusterIPOf(owner), start, end).filter(state => state.owner === owner),
  );
  if (serving.some(({ endpoints }) => endpoints.includes(result))) return true;
  const isRefusing = serving.some(({ endpoints }) => endpoints.length === 0);
  // If the target changes during the call, the program leaves the socket alone.
  const isLeftAlone = states.length > 1 || owners.length === 0;
  const { ip } = ChangingServices.destinations()[destination] ?? {};
  // The node's own address is there, but nothing listens at the node port.
  const leftAlone = ip === NODE_PORT_IP ? REFUSED : UNREACHABLE;
  return (isRefusing && result === REFUSED) || (isLeftAlone && result === leftAlone);
}

/** A client stays at its endpoint as long as the same Service has affinity and that endpoint. */
function isFaithful(before: Attempt, { destination, end, result }: Attempt, history: History): boolean {
  const states = history.between(destination, before.start, end);
  const owner = states[0]?.owner;
  const isBound = states.every(
    state => state.hasAffinity && state.owner === owner && state.endpoints.includes(before.result),
  );
  return !isBound || result === before.result;
}

/** Returns all connections, and what the destinations served. */
async function changeWhileConnecting(lab: EbpfLab, random: () => number): Promise<[readonly Attempt[], History]> {
  withRoutes(lab.network.namespace, route => {
    for (const ip of [...ChangingServices.endpoints(), NODE_PORT_IP]) {
      const isV6 = familyOf(ip) === 'IPv6';
      route.addAddress(loopbackOf(route), { ip, prefix: isV6 ? 128 : 32, ...(isV6 && { nodad: true }) });
    }
  });
  const services = new ChangingServices(lab.harness, random);
  await lab.harness.sync();
  const history = new History(services.served());
  const clients = await ConnectingProcess.start(lab.network.namespace, ENDPOINT_PORT, ChangingServices.destinations());
  try {
    let changes = 0;
    while (changes < CHANGES) {
      const before = changes;
      const count = 1 + Math.floor(random() * MAX_CHANGES_PER_SYNC);
      for (let i = 0; i < count; i++) services.change();
      changes += count;
      const isDue = (every: number) => Math.floor(before / every) !== Math.floor(changes / every);
      if (isDue(LARGE_EVERY)) services.changeLarge();
      const start = Number(process.hrtime.bigint());
      await lab.harness.sync();
      history.synced(start, services.served());
      if (isDue(RESTART_EVERY)) await lab.harness.restart();
    }
    return [await clients.end(), history];
  } finally {
    clients.kill();
  }
}

/** The connections that got something else, with what their destinations served meanwhile. */
function wrongAttempts(attempts: readonly Attempt[], history: History): readonly unknown[] {
  const last = new Map<number, Attempt>();
  return attempts.flatMap(attempt => {
    const { destination, start, end } = attempt;
    const before = last.get(destination);
    last.set(destination, attempt);
    const isRight = isAllowed(attempt, history) && (!before || isFaithful(before, attempt, history));
    return isRight ? [] : [{ attempt, before, served: history.between(destination, before?.start ?? start, end) }];
  });
}

test('EBPF-6 during 10,000 random changes connections reach only endpoints that the Service has', () =>
  EbpfLab.with(async lab => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const [attempts, history] = await changeWhileConnecting(lab, randomNumbers(seed));
    const wrong = wrongAttempts(attempts, history);
    assert.deepEqual(wrong.slice(0, 3), [], `seed ${seed}: ${wrong.length} of ${attempts.length} connections`);
    assert.ok(attempts.length >= MIN_ATTEMPTS, `${attempts.length} connections`);
    assert.deepEqual(lab.lines, []);
  }));
