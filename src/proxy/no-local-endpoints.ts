import type { PlanDiff, ServicePortPlan } from '../plan/index.ts';

export interface NoLocalEndpointCounts {
  readonly internal: number;
  readonly external: number;
}

/** Counts service ports with a traffic policy Local that have endpoints on other nodes only, by the policy. */
export class NoLocalEndpoints {
  #internal = 0;
  #external = 0;

  get counts(): NoLocalEndpointCounts {
    return { internal: this.#internal, external: this.#external };
  }

  apply({ added, updated, removed }: PlanDiff): void {
    for (const plan of added) this.#count(plan, 1);
    for (const { from, to } of updated) {
      this.#count(from, -1);
      this.#count(to, 1);
    }
    for (const plan of removed) this.#count(plan, -1);
  }

  #count({ port, endpoints }: ServicePortPlan, by: number): void {
    if (endpoints.local.length > 0 || !endpoints.hasEndpoints) return;
    if (port.internalPolicyLocal) this.#internal += by;
    if (port.externalPolicyLocal) this.#external += by;
  }
}
