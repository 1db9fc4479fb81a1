import type { Configuration, FeatureGates } from '../config/index.ts';
import type { LogControl, Logger } from '../observe/logging/index.ts';

/** All that the command line tells a run. */
export interface DaemonOptions {
  /** Complete and valid. */
  readonly configuration: Configuration;
  readonly gates: FeatureGates;
  /** Path of the file that the configuration comes from; empty if it comes from flags. */
  readonly configFile: string;
  /** What the file held when it was read, so that a change between then and the watch is not missed. */
  readonly configText: string;
  /** The configuration that the file's new text would give, complete and valid. Throws an Error that says what is wrong. */
  readonly reload: (text: string) => Configuration;
  /** URL of the API server instead of the kubeconfig file's; empty if there is none. */
  readonly master: string;
  /** Only do what takes privileges. */
  readonly initOnly: boolean;
  /** Folder or file of manifests that stands for the API server; undefined if there is none. */
  readonly manifests: string | undefined;
  /** Have the kernel count connections by service port. */
  readonly countConnections: boolean;
  /** The version of Kubernetes to report. */
  readonly kubernetesVersion: string;
  /** All flags with the text of their values, by name. */
  readonly flags: () => readonly { readonly name: string; readonly value: string }[];
  readonly log: Logger;
  readonly logControl: LogControl;
}
