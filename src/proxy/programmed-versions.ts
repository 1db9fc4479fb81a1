import { isOlderVersion } from '../api/index.ts';

/** A resource version for each of the two resources that decide about connections. */
export interface ResourceVersions {
  readonly services: string | undefined;
  readonly endpointSlices: string | undefined;
}

/** What is in the kernel, and what is not yet. */
export interface ProgrammedState {
  /** Everything up to these versions is in the kernel. Undefined before the first sync, and with manifests. */
  readonly programmed: ResourceVersions;
  /** The proxy has received everything up to these versions. */
  readonly received: ResourceVersions;
  /** Some changes that the proxy has received are not in the kernel yet. */
  readonly isPending: boolean;
  /** How many changes of objects are in the kernel. Bookmarks raise the versions, but not this number. */
  readonly changes: number;
}

export const NO_VERSIONS: ResourceVersions = { services: undefined, endpointSlices: undefined };

interface Progress {
  readonly versions: ResourceVersions;
  readonly changes: number;
}

/**
 * Up to which versions everything is in the kernel. A run of syncs takes all changes that have come so far. When the
 * syncs of all its families have succeeded, the versions of that moment are programmed.
 */
export class ProgrammedVersions {
  readonly #received: () => ResourceVersions;
  #changes = 0;
  #taken: Progress = { versions: NO_VERSIONS, changes: 0 };
  #programmed: Progress | undefined;

  constructor(received: () => ResourceVersions) {
    this.#received = received;
  }

  /** A Service or an EndpointSlice has changed. */
  objectChanged(): void {
    this.#changes++;
  }

  /** A run of syncs has taken all changes that have come so far. */
  allTaken(): void {
    this.#taken = { versions: this.#received(), changes: this.#changes };
  }

  /** The kernel has all changes of that run. */
  allWritten(): void {
    this.#programmed = this.#taken;
  }

  /** `hasChanges`: the loop has changes that no sync has written. */
  state(hasChanges: boolean): ProgrammedState {
    const received = this.#received();
    // Without changes there is no sync. Bookmarks, and changes that mean nothing to the proxy, raise the versions too.
    if (this.#programmed && !hasChanges) this.#programmed = { versions: received, changes: this.#changes };
    const { versions, changes } = this.#programmed ?? { versions: NO_VERSIONS, changes: 0 };
    const isPending = hasChanges || this.#programmed === undefined;
    return { programmed: withoutNewer(versions, received), received, isPending, changes };
  }
}

/** After a restore of the API server from a backup, the versions of before mean something else. */
function withoutNewer(versions: ResourceVersions, received: ResourceVersions): ResourceVersions {
  return {
    services: unlessNewer(versions.services, received.services),
    endpointSlices: unlessNewer(versions.endpointSlices, received.endpointSlices),
  };
}

function unlessNewer(version: string | undefined, received: string | undefined): string | undefined {
  if (version === undefined || received === undefined) return undefined;
  return isOlderVersion(received, version) ? undefined : version;
}
