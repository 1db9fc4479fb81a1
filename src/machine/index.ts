export { type FlowOptions, type FoundFlows, findFlows, type TrackedFlow } from './flows.ts';
export {
  type FoundListeners,
  findListeners,
  type Listener,
  type ListenerOptions,
  type ListenerQuery,
} from './listeners.ts';
export type { Packet } from './packet.ts';
export {
  type ProbeAllOptions,
  type ProbedEndpoint,
  type ProbeOptions,
  type ProbeOutcome,
  type ProbeResult,
  probe,
  probeAll,
} from './probe.ts';
export {
  type Certainty,
  type Finding,
  findOtherRules,
  findOtherRulesOn,
  type OtherRules,
  type OtherRulesOptions,
  type PacketPath,
  type PathHook,
  type RouteFinding,
  type RuleFinding,
  type SysctlFinding,
} from './rules/index.ts';
