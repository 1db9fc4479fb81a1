import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { clusterEvent, survivors } from '../../../test/support/cluster-events.ts';
import { CALLERS, NodeUnderTest } from '../../../test/support/outcomes.ts';
import { MODES, type Mode } from '../../../test/traffic/modes.ts';
import type { Caller } from '../caller.ts';
import type { Outcome } from '../outcome.ts';

const caller = fc.constantFrom<Caller>(...Object.values(CALLERS), { place: 'pod', ip: '10.0.0.1' as Caller['ip'] });
const ip = fc.constantFrom('10.96.0.1', '10.96.0.2', '10.96.0.9', '1.1.1.1', '2.2.2.2', '3.3.3.3', '192.168.0.2');
const port = fc.constantFrom(80, 81, 30000);
const protocol = fc.constantFrom('TCP', 'UDP');
const destination = fc.tuple(ip, port, protocol).map(parts => parts.join(' '));
const nodeUnderTest = fc.array(clusterEvent, { maxLength: 12 }).map(events => {
  const objects = survivors(events).flatMap(one => ('object' in one ? [one.object] : []));
  return new NodeUnderTest(objects, { nodePortAddresses: [] });
});

/** The endpoints that answer, whatever they see, or what happens without an answer. */
function essence(outcome: Outcome): unknown {
  return outcome.kind === 'answered'
    ? { endpoints: outcome.endpoints.map(({ text }) => text), isSticky: outcome.isSticky }
    : { kind: outcome.kind, code: outcome.code };
}

describe('outcomes of random clusters', () => {
  test('OUTCOME-2 shares add up to one, endpoints are those of a plan, and every other outcome has a reason', () => {
    fc.assert(
      fc.property(nodeUnderTest, caller, destination, fc.constantFrom(...MODES), (tested, from, to, mode) => {
        const outcome = tested.outcome(from, to, mode);
        if (outcome.kind !== 'answered') return assert.notEqual(outcome.reason, '');
        const { endpoints, lost } = outcome;
        assert.notEqual(endpoints.length, 0);
        const share = 1 / (endpoints.length + lost.length);
        assert.ok(endpoints.every(({ odds }) => odds === undefined || Math.abs(odds - share) < 1e-9));
        const plans = [...tested.state.family('IPv4').planner.plans()];
        const known = new Set(
          plans.flatMap(plan => [...plan.endpoints.cluster, ...plan.endpoints.local]).map(e => e.text),
        );
        assert.ok([...endpoints.map(({ text }) => text), ...lost].every(text => known.has(text)));
      }),
    );
  });

  test('OUTCOME-1 nftables and userspace mode give the same endpoints, unless answers get lost or ports are unknown', () => {
    compareModes('nftables', 'userspace', ['answers-bypass-node', 'unknown-port', 'unallocated-cluster-ip']);
  });

  test('OUTCOME-1 nftables and iptables mode give the same, except without endpoints and for unknown ports', () => {
    compareModes('nftables', 'iptables', ['no-endpoints', 'source-ranges', 'unknown-port', 'unallocated-cluster-ip']);
  });
});

/** `except`: codes of the first mode's outcomes with which the second mode may differ. */
function compareModes(first: Mode, second: Mode, except: readonly string[]): void {
  fc.assert(
    fc.property(nodeUnderTest, caller, destination, (tested, from, to) => {
      const [a, b] = [tested.outcome(from, to, first), tested.outcome(from, to, second)];
      fc.pre(a.kind === 'answered' ? a.lost.length === 0 : !except.includes(a.code));
      assert.deepEqual(essence(b), essence(a));
    }),
  );
}
