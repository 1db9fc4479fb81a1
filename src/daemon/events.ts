import { MODE_DEFAULTED } from '../config/index.ts';
import { type ModeCondition, type Repair, type SetAside, type StartEvent, setAsideName } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { type EventContent, nodeReference, type ObjectReference } from '../observe/events/index.ts';
import { type ServiceHealthFailure, serviceHealthNote } from '../observe/health/index.ts';
import { type EjectionReport, ejectionPortName, ejectionWords } from '../proxy/index.ts';

const START = 'StartKubeProxy';

/** The Events that this node's proxy writes. */
export function eventsOf(nodeName: string) {
  const node = nodeReference(nodeName);
  return {
    started: (): EventContent => ({ type: 'Normal', reason: 'Starting', action: START, regarding: node, note: '' }),

    modeDefaulted: (): EventContent => ({
      type: 'Warning',
      reason: 'KubeProxyDefaultMode',
      action: START,
      regarding: node,
      note: MODE_DEFAULTED,
    }),

    modeStarted: (event: StartEvent): EventContent => ({ ...event, regarding: node }),

    serverFailed: (server: 'healthz' | 'metrics', error: string): EventContent => ({
      type: 'Warning',
      reason: server === 'healthz' ? 'FailedToStartProxierHealthcheck' : 'FailedToStartMetricServer',
      action: START,
      regarding: node,
      note: error,
    }),

    healthPortFailed: (service: ObjectReference, failure: ServiceHealthFailure): EventContent => ({
      type: 'Warning',
      reason: 'FailedToStartServiceHealthcheck',
      action: 'Listen',
      regarding: service,
      related: node,
      note: serviceHealthNote(nodeName, failure),
    }),

    balanceUnavailable: (service: ObjectReference, reason: string): EventContent => ({
      type: 'Warning',
      reason: 'BalanceUnavailable',
      action: 'Plan',
      regarding: service,
      related: node,
      note: `node ${nodeName} ignores the annotation pointsman.dev/balance: ${reason}`,
    }),

    connectionsNotEnded: (service: ObjectReference, reason: string): EventContent => ({
      type: 'Warning',
      reason: 'ConnectionsNotEnded',
      action: 'EndConnections',
      regarding: service,
      related: node,
      note: `node ${nodeName} could not end the connections of endpoints that are gone: ${reason}`,
    }),

    ejectionChanged: (service: ObjectReference, report: EjectionReport): EventContent => ({
      type: report.leftOut ? 'Warning' : 'Normal',
      reason: report.leftOut ? 'EndpointEjected' : 'EndpointReturned',
      action: 'Eject',
      regarding: service,
      related: node,
      note: report.leftOut
        ? `node ${nodeName} leaves out an endpoint of ${ejectionPortName(report)} for ${report.leftOut.seconds} s: ${ejectionWords(report)}`
        : `node ${nodeName} uses an endpoint of ${ejectionPortName(report)} again: ${ejectionWords(report)}`,
    }),

    setAside: (service: ObjectReference, port: SetAside): EventContent => ({
      type: 'Warning',
      reason: 'SetAside',
      action: 'Program',
      regarding: service,
      related: node,
      note: `node ${nodeName} could not program ${setAsideName(port)} for ${port.family}: ${port.cause.message}`,
    }),

    conditionChanged: ({ name, isServing, note }: ModeCondition): EventContent => ({
      type: isServing ? 'Normal' : 'Warning',
      reason: isServing ? 'ModePartServes' : 'ModePartFailed',
      action: 'Program',
      regarding: node,
      note: isServing
        ? `kube-proxy serves connections at ${name} again: ${note}`
        : `kube-proxy does not serve connections at ${name}: ${note}`,
    }),

    driftRepaired: (family: Family, { cause, written }: Repair): EventContent => ({
      type: 'Warning',
      reason: 'DriftRepaired',
      action: 'Repair',
      regarding: node,
      note: `kube-proxy repaired its ${family} rules, which another program had changed: ${cause}; ${written}`,
    }),
  };
}
