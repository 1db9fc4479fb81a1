/** The log of what happens in the background, where no caller can receive an error. */
export interface ClientLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warning(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export const silentLog: ClientLog = { info: () => {}, warning: () => {}, error: () => {} };
