import { printElement } from '../../../kernel/ipset/index.ts';
import { sameList } from '../../../lib/same-list.ts';
import { type PlanDiff, planId, type ServicePortPlan } from '../../../plan/index.ts';
import { elementId } from '../names.ts';
import { type RenderContext, render } from '../render.ts';
import { WantedObjects } from './wanted-objects.ts';

/** The plans of one family, and the objects that they are rendered to. */
export class RenderedPlans {
  readonly wanted = new WantedObjects();
  readonly #plans = new Map<string, ServicePortPlan>();
  #context: RenderContext;

  constructor(context: RenderContext) {
    this.#context = context;
  }

  get context(): RenderContext {
    return this.#context;
  }

  take({ added, updated, removed }: PlanDiff): void {
    for (const plan of removed) this.#replace(planId(plan), undefined);
    for (const { to } of updated) this.#replace(planId(to), to);
    for (const plan of added) this.#replace(planId(plan), plan);
  }

  /** Renders all plans again if the context changed. */
  setContext(context: RenderContext): void {
    const before = this.#context;
    this.#context = context;
    if (sameContext(before, context)) return;
    for (const [id, plan] of this.#plans) {
      this.wanted.remove(id, render(before, plan));
      this.wanted.add(id, plan, render(context, plan));
    }
  }

  /** The plans that have one of these objects, each with the first of them. `objects`: by id. */
  *plansWith(objects: ReadonlyMap<string, unknown>): Generator<{ readonly id: string; readonly object: string }> {
    if (objects.size === 0) return;
    for (const [id, plan] of this.#plans) {
      const object = this.#objectsOf(plan).find(name => objects.has(name));
      if (object !== undefined) yield { id, object };
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

  /** Ids of virtual servers, elements and addresses. */
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
    sameList(a.nodePortIPs, b.nodePortIPs) &&
    a.missingSchedulers === b.missingSchedulers &&
    a.nodeIPs.size === b.nodeIPs.size &&
    [...a.nodeIPs].every(ip => b.nodeIPs.has(ip))
  );
}
