export { findOtherRules, findOtherRulesOn, type OtherRulesOptions } from './find-other-rules.ts';
export type {
  Certainty,
  Finding,
  OtherRules,
  PacketPath,
  PathHook,
  RouteFinding,
  RuleFinding,
  SysctlFinding,
} from './finding.ts';
