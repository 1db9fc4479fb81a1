import { objectKey } from '../../api/index.ts';
import { type ServiceReport, serviceReporter } from '../../inspect/index.ts';
import type { Problem } from '../../lib/problem.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import type { LoadedFacts } from '../facts/index.ts';
import { type NotServed, notServed } from './not-served.ts';
import type { ServiceSelection } from './select-services.ts';
import { serviceNotes } from './service-notes.ts';
import { sliceNotes, sliceProblems } from './slice-problems.ts';

/** The output of `kube-proxy plan` as plain data. JSON and YAML show it as it is; the text is made from it. */
export interface PlanReport {
  readonly schema: typeof PLAN_SCHEMA;
  readonly node: NodeReport;
  readonly services: readonly ServiceReport[];
  /** The Services for which a proxy does nothing. */
  readonly notServed: readonly NotServed[];
  /** What the operator should know although nothing is wrong. */
  readonly notes: readonly string[];
  readonly problems: readonly Problem[];
}

const PLAN_SCHEMA = 'pointsman.plan/v1';

export interface NodeReport {
  readonly name: string;
  readonly zone: string;
  readonly addresses: readonly string[];
  readonly primaryFamily: Family;
  readonly notice?: string;
}

/** The report of all Services that are selected. */
export function planReport(facts: LoadedFacts, selection: ServiceSelection): PlanReport {
  const { state, nodeName } = facts;
  const { nodeIPs, notice, families } = state.nodeOptions;
  const addresses = [nodeIPs.primary, ...FAMILIES.filter(family => family !== nodeIPs.primary)].map(
    family => nodeIPs[family],
  );
  const selected = [...facts.snapshot.services.values()].filter(({ metadata }) =>
    selection.isSelected(objectKey(metadata)),
  );
  return {
    schema: PLAN_SCHEMA,
    node: {
      name: nodeName,
      zone: families.IPv4.node.zone,
      addresses,
      primaryFamily: nodeIPs.primary,
      ...(notice ? { notice } : {}),
    },
    services: serviceReports(facts, selection),
    notServed: notServed(selected),
    notes: [...facts.notes, ...sliceNotes(facts.snapshot), ...serviceNotes(selected, facts)],
    problems: [...facts.problems, ...sliceProblems(facts.snapshot), ...selection.problems],
  };
}

function serviceReports(facts: LoadedFacts, { isSelected }: ServiceSelection): readonly ServiceReport[] {
  const { state } = facts;
  const keys = new Set(
    FAMILIES.flatMap(family => [...state.family(family).planner.plans()].map(({ service }) => service)),
  );
  return [...keys].filter(isSelected).sort().map(serviceReporter(facts));
}
