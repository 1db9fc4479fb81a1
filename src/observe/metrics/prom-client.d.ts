// The main module of prom-client also loads summaries, clustering, the push gateway and OpenTelemetry, which costs 5 MB
// of memory. So we import its parts, which have no types of their own.
declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client';
}
declare module 'prom-client/lib/counter.js' {
  export { Counter as default } from 'prom-client';
}
declare module 'prom-client/lib/gauge.js' {
  export { Gauge as default } from 'prom-client';
}
declare module 'prom-client/lib/histogram.js' {
  export { Histogram as default } from 'prom-client';
}
declare module 'prom-client/lib/metrics/osMemoryHeap.js' {
  import type { Registry } from 'prom-client';
  export default function registerMemory(registry: Registry): void;
}
declare module 'prom-client/lib/metrics/heapSizeAndUsed.js' {
  import type { Registry } from 'prom-client';
  export default function registerHeap(registry: Registry): void;
}
declare module 'prom-client/lib/metrics/processOpenFileDescriptors.js' {
  import type { Registry } from 'prom-client';
  export default function registerOpenDescriptors(registry: Registry): void;
}
declare module 'prom-client/lib/metrics/processMaxFileDescriptors.js' {
  import type { Registry } from 'prom-client';
  export default function registerMaxDescriptors(registry: Registry): void;
}
declare module 'prom-client/lib/metrics/version.js' {
  import type { Registry } from 'prom-client';
  export default function registerVersion(registry: Registry): void;
}
