/**
 * The log of what happens in the background, where no caller can receive an error. `source` is the name that `--vmodule`
 * knows.
 */
export interface ClientLog {
  info(source: string, message: string, fields?: Readonly<Record<string, unknown>>): void;
  warning(source: string, message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(source: string, message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export const silentLog: ClientLog = { info: () => {}, warning: () => {}, error: () => {} };
