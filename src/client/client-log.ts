/** Where the client writes what no caller waits for. */
export interface ClientLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warning(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export const silent: ClientLog = { info: () => {}, warning: () => {}, error: () => {} };
