import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapContents } from '../../../../test/support/ebpf-map-contents.ts';
import { randomNumbers } from '../../../../test/support/random-numbers.ts';
import type { Family, Ip } from '../../../net/index.ts';
import type { SocketPort } from '../render.ts';
import { capacityFor } from './capacity.ts';
import { contentsAfter, type FamilyChanges, withNewNumbers } from './contents.ts';
import { neededParts } from './features.ts';
import { Generation } from './generation.ts';
import type { PortChange } from './placed-port.ts';

const FAMILY_CHANGES: readonly Family[] = ['IPv4', 'IPv6'];

/** Service ports that stay from round to round, and service ports that each round has for itself. */
const [COMMON, OWN] = [300, 300];
/** So many rounds use up the numbers of pools and the slots of the smallest maps. */
const ROUNDS = 12;

const ip = (family: Family, kind: number, number: number) =>
  (family === 'IPv4' ? `10.${kind}.${number >> 8}.${number & 255}` : `fd00:${kind}::${number.toString(16)}`) as Ip;

function randomPort(family: Family, number: number, random: () => number): SocketPort {
  const count = Math.floor(random() * 12);
  const endpoints = Array.from({ length: count }, () => ({
    ip: ip(family, 1, 1 + Math.floor(random() * 999)),
    port: 80,
  }));
  const to = count > 0 ? 'cluster' : 'refuse';
  const targets = [80, 443]
    .slice(0, 1 + Math.floor(random() * 2))
    .map(port => ({ ip: ip(family, 2, number), port, to, isNodeOnly: false }) as const);
  return {
    id: `default/port-${number}/TCP`,
    service: `default/port-${number}`,
    portName: '',
    targets,
    pools: count > 0 ? [{ name: 'cluster', endpoints }] : [],
    affinitySeconds: random() < 0.1 ? 60 : 0,
    isLeastConnections: false,
  };
}

/** What service ports should be, and the generation that has them. */
class Succession {
  generation: Generation | undefined;
  readonly #wanted = { IPv4: new Map<string, SocketPort>(), IPv6: new Map<string, SocketPort>() };
  /** Whether a new generation kept the numbers of the former one. */
  readonly keptNumbers = new Set<boolean>();

  want(family: Family, changes: readonly PortChange[]): void {
    for (const { id, to } of changes) {
      if (to) this.#wanted[family].set(id, to);
      else this.#wanted[family].delete(id);
    }
  }

  async renew(changes: readonly FamilyChanges[]): Promise<void> {
    const former = this.generation;
    this.generation = await this.#make(changes, former);
    this.generation.takeOver();
    former?.close();
  }

  /** The maps, and those of a generation that has no former one. */
  async compare(): Promise<void> {
    const fresh = await this.#make(
      FAMILY_CHANGES.map(family =>
        changesOf(
          family,
          Array.from(this.#wanted[family], ([id, to]) => ({ id, to })),
        ),
      ),
      undefined,
    );
    assert.deepEqual(mapContents(this.generation?.maps), mapContents(fresh.maps));
    for (const family of FAMILY_CHANGES) {
      assert.equal(await this.generation?.difference(family), undefined);
      assert.deepEqual({ ...this.generation?.need(family) }, { ...fresh.need(family) });
    }
    assert.deepEqual(usedFrontends(this.generation), usedFrontends(fresh));
    fresh.close();
  }

  async #make(changes: readonly FamilyChanges[], former: Generation | undefined): Promise<Generation> {
    const contents = changes.map(each => contentsAfter(each, former));
    const features = { ...neededParts(contents.map(({ need }) => need)), counts: false };
    const capacity = capacityFor(contents);
    const generation = new Generation(capacity, features, new Map());
    const keepsNumbers = former?.hasNumbersFor(contents, capacity) === true;
    if (former) this.keptNumbers.add(keepsNumbers);
    if (keepsNumbers) await generation.fill(contents, former);
    else await generation.fill(contents.map(each => withNewNumbers(each, former)));
    return generation;
  }
}

function changesOf(family: Family, ports: readonly PortChange[]): FamilyChanges {
  return { family, ports, nodeAddresses: new Map() };
}

function usedFrontends(generation: Generation | undefined) {
  return [...(generation?.usage() ?? [])].filter(({ map }) => /frontends|members/.test(map)).map(({ used }) => used);
}

test('EBPF-11 a generation that takes over from another has the same as one that begins anew', async () => {
  const random = randomNumbers(1);
  const succession = new Succession();
  const change = (family: Family, number: number, isGone: boolean): PortChange => {
    const port = randomPort(family, number, random);
    return { id: port.id, to: isGone ? undefined : port };
  };
  const someCommon = (family: Family) => {
    const changes = Array.from({ length: 40 }, () => change(family, Math.floor(random() * COMMON), random() < 0.3));
    return [...new Map(changes.map(each => [each.id, each])).values()];
  };
  const renew = async (v4: readonly PortChange[], v6: readonly PortChange[]) => {
    succession.want('IPv4', v4);
    succession.want('IPv6', v6);
    await succession.renew([changesOf('IPv4', v4), changesOf('IPv6', v6)]);
  };
  const write = async (changes: readonly PortChange[]) => {
    if ((await succession.generation?.write('IPv4', changes)) === 'written') succession.want('IPv4', changes);
    else await renew(changes, []);
  };
  const firstOf = (round: number) => COMMON + round * OWN;
  await renew([], []);
  for (let round = 0; round < ROUNDS; round++) {
    await write(Array.from({ length: OWN }, (_, i) => change('IPv4', firstOf(round) + i, false)));
    await write(Array.from({ length: OWN }, (_, i) => change('IPv4', firstOf(round - 1) + i, true)).slice(0, 250));
    await write(someCommon('IPv4'));
    if (round % 3 === 0) await renew([], []);
    else await renew(someCommon('IPv4'), someCommon('IPv6'));
    if (round % 2 === 1) await succession.compare();
  }
  assert.deepEqual([...succession.keptNumbers].sort(), [false, true]);
  succession.generation?.close();
});
