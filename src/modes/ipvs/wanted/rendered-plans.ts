import { encodeElement, printElement } from '../../../kernel/ipset/index.ts';
import { encodeChange } from '../../../kernel/ipvs/index.ts';
import { MessageWriter } from '../../../kernel/netlink/index.ts';
import { sameList } from '../../../lib/same-list.ts';
import { type PlanDiff, planId, type ServicePortPlan } from '../../../plan/index.ts';
import { preparationErrorOf } from '../../refusal-search.ts';
import { elementId } from '../names.ts';
import { type RenderContext, type Rendered, render } from '../render.ts';
import { WantedObjects } from './wanted-objects.ts';

/**
 * The plans of one family, and the objects that they are rendered to. A plan that cannot be rendered leaves the last
 * good version of its service port in place.
 */
export class RenderedPlans {
  readonly wanted = new WantedObjects();
  readonly #plans = new Map<string, ServicePortPlan>();
  readonly #failed = new Map<string, unknown>();
  #context: RenderContext;

  constructor(context: RenderContext) {
    this.#context = context;
  }

  get context(): RenderContext {
    return this.#context;
  }

  /** The errors of the service ports whose newest plans cannot be rendered or encoded, by id. */
  get failed(): ReadonlyMap<string, unknown> {
    return this.#failed;
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
      const rendered = this.#tryRender(id, plan);
      if (rendered) this.wanted.add(id, plan, rendered);
      else this.#plans.delete(id);
    }
  }

  /** Leaves out the service ports whose objects cannot be encoded. Throws the error if there are none. */
  leaveOutFailing(error: unknown): void {
    const prepare = ([, plan]: readonly [string, ServicePortPlan]) => tryEncode(render(this.#context, plan));
    for (const [[id], own] of preparationErrorOf(error, this.#plans, prepare).failed) {
      this.#replace(id, undefined);
      this.#failed.set(id, own);
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
    this.#failed.delete(id);
    const rendered = plan && this.#tryRender(id, plan);
    if (plan && !rendered) return;
    const before = this.#plans.get(id);
    if (before) this.wanted.remove(id, render(this.#context, before));
    this.#plans.delete(id);
    if (!plan || !rendered) return;
    this.#plans.set(id, plan);
    this.wanted.add(id, plan, rendered);
  }

  #tryRender(id: string, plan: ServicePortPlan): Rendered | undefined {
    try {
      return render(this.#context, plan);
    } catch (error) {
      this.#failed.set(id, error);
      return undefined;
    }
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

/** Encodes the objects as requests to add them, and throws the bytes away. */
function tryEncode({ servers, elements }: Rendered): void {
  const writer = new MessageWriter();
  writer.begin(0, 0, 0);
  for (const { element } of elements) encodeElement(writer, element);
  for (const { service, endpoints } of servers) {
    encodeChange(writer, { kind: 'new-service', service });
    for (const { ip: address, port } of endpoints) {
      encodeChange(writer, { kind: 'new-dest', service: service.key, destination: { address, port } });
    }
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
