import type { Facts } from '../explain/index.ts';
import { Breaks } from '../lib/breaks.ts';
import type { Problem } from '../lib/problem.ts';
import { type SetAside, type SetAsideCause, setAsideName } from '../modes/index.ts';
import { conflictProblems, type ServicePortPlan } from '../plan/index.ts';
import { objectAnswer } from './answers.ts';
import type { Route } from './route.ts';

/** The answer of `/v1/problems`. */
export interface ProblemsAnswer {
  /** Input that cannot be used. */
  readonly input: readonly Problem[];
  readonly setAside: readonly SetAsideRow[];
  /** Addresses that two Services want. */
  readonly conflicts: readonly Problem[];
}

interface SetAsideRow extends SetAsideCause, Pick<SetAside, 'family' | 'protocol'> {
  /** `ns/name:port` */
  readonly servicePort: string;
}

const PROBLEMS_SCHEMA = 'pointsman.problems/v1';

/** Plans are looked at in groups of this size. Between them the event loop may run. */
const GROUP_SIZE = 100;

export function problemsRoute(facts: () => Facts): Route {
  return {
    path: '/v1/problems',
    about: 'input that cannot be used, service ports that are set aside, and addresses that two Services want',
    async answer() {
      const now = facts();
      const { problems, setAside } = now;
      const answer: ProblemsAnswer = {
        input: problems,
        setAside: setAside.map(setAsideRow),
        conflicts: await conflicts(now),
      };
      return objectAnswer(PROBLEMS_SCHEMA, answer);
    },
  };
}

function setAsideRow(port: SetAside): SetAsideRow {
  const { family, protocol, cause } = port;
  return { servicePort: setAsideName(port), family, protocol, ...cause };
}

async function conflicts({ families, state }: Facts): Promise<readonly Problem[]> {
  const found: Problem[] = [];
  const breaks = new Breaks();
  for (const family of families) {
    let group: ServicePortPlan[] = [];
    for (const plan of state.family(family).planner.plans()) {
      group.push(plan);
      if (group.length < GROUP_SIZE) continue;
      found.push(...conflictProblems(group));
      group = [];
      if (breaks.isDue) await breaks.take();
    }
    found.push(...conflictProblems(group));
  }
  return found;
}
