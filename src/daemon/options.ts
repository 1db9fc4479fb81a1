import type { Configuration, FeatureGates } from '../config/index.ts';
import type { ModeFlags } from '../modes/index.ts';
import type { LogControl, Logger } from '../observe/logging/index.ts';
import type { PageAction, PageAddress } from '../page/index.ts';
import type { ProgrammedReportSettings } from './programmed-report.ts';

/** Everything that the command line decides. */
export interface DaemonOptions extends ModeFlags {
  /** Complete and valid. */
  readonly configuration: Configuration;
  readonly gates: FeatureGates;
  /** The operator named no mode, and the configuration has the default. */
  readonly isModeDefaulted: boolean;
  /** Path of the file that the configuration comes from; empty if it comes from flags. */
  readonly configFile: string;
  /** The text of that file when it was read. The watch compares it, so that it does not miss a change in between. */
  readonly configText: string;
  /** Reads a new text of that file as a complete and valid configuration. Throws an Error that says what is wrong. */
  readonly reload: (text: string) => Configuration;
  /** URL of the API server. It replaces that of the kubeconfig file. Empty if the operator gave none. */
  readonly master: string;
  /** Do only the work that needs privileges, then end. */
  readonly initOnly: boolean;
  /** Folder or file of manifests to use instead of an API server. */
  readonly manifests: string | undefined;
  /** Manifests may have endpoints at loopback and link-local addresses. */
  readonly allowLoopbackEndpoints: boolean;
  /** Path of the Unix socket of the inspection API. Empty: no socket. */
  readonly inspectSocket: string;
  /** Loopback address and port of the inspection API. Empty: it does not listen on TCP. */
  readonly inspectBindAddress: string;
  /** Where and how often the proxy reports what it has programmed. Undefined: it does not. */
  readonly reportProgrammed?: ProgrammedReportSettings | undefined;
  /** The operator's page. Undefined: no page. */
  readonly page: PageOptions | undefined;
  /** The version of Pointsman. */
  readonly version: string;
  /** The version of Kubernetes to report. */
  readonly kubernetesVersion: string;
  /** All flags with the text of their values, by name. */
  readonly flags: () => readonly { readonly name: string; readonly value: string }[];
  readonly log: Logger;
  readonly logControl: LogControl;
}

export interface PageOptions {
  readonly address: PageAddress;
  /** What the page may do besides reading. */
  readonly allows: readonly PageAction[];
}
