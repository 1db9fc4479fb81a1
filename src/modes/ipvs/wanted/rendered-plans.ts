import { printElement } from '../../../kernel/ipset/index.ts';
import { type PlanDiff, planId, type ServicePortPlan } from '../../../plan/index.ts';
import { type RenderContext, render } from '../render.ts';
import { elementId } from '../kernel-state/set-table.ts';
import { Wanted } from './wanted-objects.ts';

/** The plans of one family, and what they come to in the kernel. */
export class WantedPlans {
  readonly wanted = new Wanted();
  readonly #plans = new Map<string, ServicePortPlan>();
  #context: RenderContext;

  constructor(context: RenderContext) {
    this.#context = context;
  }

  get context(): RenderContext {
    return this.#context;
  }

  /** Returns the ids of the plans that it was about. */
  want({ added, updated, removed }: PlanDiff): readonly string[] {
    for (const plan of removed) this.#replace(planId(plan), undefined);
    for (const { to } of updated) this.#replace(planId(to), to);
    for (const plan of added) this.#replace(planId(plan), plan);
    return [...removed, ...updated.map(({ to }) => to), ...added].map(planId);
  }

  setContext(context: RenderContext): void {
    const before = this.#context;
    this.#context = context;
    if (sameContext(before, context)) return;
    for (const [id, plan] of this.#plans) {
      this.wanted.remove(id, render(before, plan));
      this.wanted.add(id, plan, render(context, plan));
    }
  }

  /** Whose objects those are, with what was said of the first of each. */
  *culprits(errors: ReadonlyMap<string, string>): Generator<{ id: string; plan: ServicePortPlan; error: string }> {
    if (errors.size === 0) return;
    for (const [id, plan] of this.#plans) {
      const object = this.#objectsOf(plan).find(name => errors.has(name));
      const error = object === undefined ? undefined : errors.get(object);
      if (error !== undefined) yield { id, plan, error };
    }
  }

  #replace(id: string, plan: ServicePortPlan | undefined): void {
    const before = this.#plans.get(id);
    if (before) this.wanted.remove(id, render(this.#context, before));
    this.#plans.delete(id);
    if (!plan) return;
    this.#plans.set(id, plan);
    this.wanted.add(id, plan, render(this.#context, plan));
  }

  #objectsOf(plan: ServicePortPlan): readonly string[] {
    const { servers, elements } = render(this.#context, plan);
    return [
      ...servers.map(({ id }) => id),
      ...elements.map(({ set, element }) => elementId(set, printElement(element), this.#context.family)),
      ...elements.flatMap(({ element }) => (element.kind === 'hash:ip' ? [element.ip] : [])),
    ];
  }
}

function sameContext(a: RenderContext, b: RenderContext): boolean {
  return (
    a.nodePortIPs.join() === b.nodePortIPs.join() &&
    a.missingSchedulers === b.missingSchedulers &&
    a.nodeIPs.size === b.nodeIPs.size &&
    [...a.nodeIPs].every(ip => b.nodeIPs.has(ip))
  );
}
