import type { EndpointSlice, Service } from './objects.ts';

/** The objects that a source has delivered, as they are now. Keys are `namespace/name`. */
export interface ObjectLookup {
  service(key: string): Service | undefined;
  services(): Iterable<Service>;
  slice(key: string): EndpointSlice | undefined;
  slices(): Iterable<EndpointSlice>;
}

interface ObjectMaps {
  readonly services: ReadonlyMap<string, Service>;
  readonly slices: ReadonlyMap<string, EndpointSlice>;
}

export function lookupIn({ services, slices }: ObjectMaps): ObjectLookup {
  return {
    service: key => services.get(key),
    services: () => services.values(),
    slice: key => slices.get(key),
    slices: () => slices.values(),
  };
}
