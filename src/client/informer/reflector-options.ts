import type { DecodeResult } from '../../api/index.ts';
import type { InformerReporter } from './reporter.ts';
import type { ResourceRequestsOptions } from './resource-requests.ts';
import type { ConnectWaits } from './retry-waits.ts';

/** Receives what the API server sends. */
export interface ReflectorSink {
  /**
   * A fresh list starts. An earlier list that broke off does not count. If the server does not know the former version,
   * the same version of an object may now mean another state of it.
   */
  listStarted(hasSameHistory: boolean): void;
  objectPresent(result: DecodeResult): void;
  objectDeleted(result: DecodeResult): void;
  /** The fresh list is complete. Objects that are not in it are gone. */
  listCompleted(): void;
  /** The API server does not have the resource, or does not allow to read it. */
  resourceUnavailable(): void;
  /** The API server sent anything: an answer, an event or a bookmark. */
  dataReceived(): void;
}

export interface ReflectorOptions extends ResourceRequestsOptions {
  readonly sink: ReflectorSink;
  readonly reporter: InformerReporter;
  readonly random: () => number;
  /** After this long without anything from a watch, the reflector checks whether the watch is deaf. */
  readonly silenceMs: number;
  readonly connectWaits: ConnectWaits;
}
