import assert from 'node:assert/strict';
import type { EndpointSlice, Service } from '../../src/api/index.ts';
import { type Caller, type Outcome, type OutcomeInput, outcomeOf } from '../../src/explain/index.ts';
import type { ConfiguredMode } from '../../src/modes/index.ts';
import { familyOf, type Ip, parseIp } from '../../src/net/index.ts';
import { DEFAULT_PLAN_SETTINGS, type PlanSettings } from '../../src/plan/index.ts';
import { MASQUERADE_BIT, modeSettings, ProxyState } from '../../src/proxy/index.ts';
import { NODE_NAME } from '../traffic/case-objects.ts';
import type { Mode } from '../traffic/modes.ts';
import { NODE_IPS } from '../traffic/recorded-network.ts';
import { caseSettings } from '../traffic/settings.ts';
import { caseMode } from '../traffic/start-proxy.ts';
import { node } from './objects.ts';

/** Callers of each place. */
export const CALLERS = {
  pod: { place: 'pod', ip: address('10.244.1.200') },
  node: { place: 'node', ip: address('192.168.0.2') },
  outside: { place: 'outside', ip: address('192.168.0.100') },
} as const satisfies Readonly<Record<string, Caller>>;

export interface NodeOptions {
  readonly mode?: ConfiguredMode | undefined;
  readonly nodePortAddresses?: readonly string[] | undefined;
  readonly plan?: Partial<PlanSettings> | undefined;
}

/** A node with these objects, whose outcomes a test asks. */
export class NodeUnderTest {
  readonly state: ProxyState;
  readonly #objects: readonly (Service | EndpointSlice)[];
  readonly #options: NodeOptions;

  constructor(objects: readonly (Service | EndpointSlice)[], options: NodeOptions = {}) {
    this.#objects = objects;
    this.#options = options;
    const clusterCIDRs = ['10.244.0.0/16', 'fd00:10:244::/48'];
    this.state = new ProxyState({
      nodeName: NODE_NAME,
      settings: { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs, ...options.plan },
      startedAt: 0,
      report: () => {},
    });
    const internalIPs = ['192.168.0.2', 'fd00:192:168::2'];
    this.state.nodeChanged({ type: 'added', to: node(NODE_NAME, { internalIPs }) });
    const cidrs = ['10.96.0.0/12', 'fd00:10:96::/108'];
    const metadata = { name: 'kubernetes', namespace: '', labels: {}, annotations: {} };
    this.state.serviceCidrChanged({ type: 'added', to: { kind: 'ServiceCIDR', metadata, cidrs } });
    for (const object of objects) {
      if (object.kind === 'Service') this.state.serviceChanged({ type: 'added', to: object });
      else this.state.endpointSliceChanged({ type: 'added', to: object });
    }
    this.state.take();
  }

  /** `destination`: `10.96.0.1 80`, and the protocol if it is not TCP. */
  outcome(caller: Caller, destination: string, mode: Mode = 'nftables'): Outcome {
    return outcomeOf(this.input(caller, destination, mode));
  }

  input(caller: Caller, destination: string, mode: Mode = 'nftables'): OutcomeInput {
    const [text = '', port = '', protocol = 'TCP'] = destination.split(' ');
    const ip = address(text);
    const family = familyOf(ip);
    const usual = caseSettings({}, mode);
    const { nodePortAddresses = usual.nodePortAddresses } = this.#options;
    assert.ok(protocol === 'TCP' || protocol === 'UDP' || protocol === 'SCTP');
    const input = { nodePortAddresses, masqueradeBit: MASQUERADE_BIT, interfaceIPs: () => NODE_IPS };
    return {
      caller,
      destination: { ip, port: Number(port), protocol },
      frontends: this.state.family(family).planner,
      mode: this.#options.mode ?? caseMode(usual),
      settings: modeSettings(this.state, family, input),
      nodeIPs: NODE_IPS,
      services: () => this.#objects.filter(object => object.kind === 'Service'),
    };
  }
}

export function address(text: string): Ip {
  const ip = parseIp(text);
  assert.ok(ip, text);
  return ip;
}

/** The codes of the remarks, or the code of the reason. */
export function codesOf(outcome: Outcome): readonly string[] {
  return outcome.kind === 'answered' ? outcome.remarks.map(({ code }) => code) : [outcome.code];
}

/** The reason of an outcome without an answer, or the remarks of one with answers. */
export function textOf(outcome: Outcome): string {
  return outcome.kind === 'answered' ? outcome.remarks.map(({ text }) => text).join('\n') : outcome.reason;
}
