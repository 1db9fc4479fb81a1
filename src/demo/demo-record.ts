import { History } from '../history/index.ts';
import { RunRecord } from '../inspect/index.ts';
import { errorText } from '../lib/error-text.ts';
import type { ModeEvents } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import type { LoopListener } from '../proxy/index.ts';
import type { SourceHandlers } from '../source/index.ts';

/** How the last sync of a family ended. */
export interface FamilyRecord {
  /** When a sync last succeeded, in milliseconds since 1970. */
  readonly syncedAt?: number | undefined;
  /** Why the last sync failed. */
  readonly error?: string | undefined;
}

/** What happened in the demo's proxy, for the operator's page. It listens beside the demo itself. */
export class DemoRecord {
  readonly history = new History();
  readonly run = new RunRecord();
  readonly #families = new Map<Family, FamilyRecord>();

  constructor(start: string) {
    this.history.started(start);
  }

  family(family: Family): FamilyRecord {
    return this.#families.get(family) ?? {};
  }

  /** Notes the events of objects before the loop gets them. */
  withHandlers(handlers: SourceHandlers): SourceHandlers {
    const { history } = this;
    return {
      serviceChanged(change) {
        history.serviceChanged(change);
        handlers.serviceChanged(change);
      },
      endpointSliceChanged(change) {
        history.endpointSliceChanged(change);
        handlers.endpointSliceChanged(change);
      },
      serviceCidrChanged(change) {
        history.serviceCidrChanged(change);
        handlers.serviceCidrChanged(change);
      },
      nodeChanged(change) {
        history.nodeChanged(change);
        handlers.nodeChanged(change);
      },
      synced() {
        history.listed();
        handlers.synced();
      },
      problem: problem => handlers.problem(problem),
      recovered: where => handlers.recovered?.(where),
    };
  }

  withLoop(listener: LoopListener): LoopListener {
    const { history, run } = this;
    return {
      ...listener,
      problem(problem) {
        history.problem(problem);
        listener.problem(problem);
      },
      recovered(where) {
        history.recovered(where);
        listener.recovered(where);
      },
      allTaken: () => history.taken(),
      changesTaken: (family, diff, plans) => history.planned(family, diff, plans),
      synced: (family, report) => {
        const latencyMs = history.synced(family, report);
        run.syncEnded(family, { ...report, latencyMs });
        this.#families.set(family, { syncedAt: Date.now() });
        listener.synced(family, report);
      },
      syncFailed: (family, failure) => {
        const error = errorText(failure.error);
        history.syncFailed(family, error);
        run.syncEnded(family, { ...failure, servicePorts: 0, error });
        this.#families.set(family, { ...this.family(family), error });
        listener.syncFailed(family, failure);
      },
    };
  }

  withMode(events: ModeEvents): ModeEvents {
    const { history, run } = this;
    return {
      ...events,
      setAside(port) {
        history.setAside(port);
        events.setAside(port);
      },
      driftRepaired(family, repair) {
        history.repaired(family, repair);
        run.repaired(family, repair);
        events.driftRepaired(family, repair);
      },
    };
  }
}
