import { Logger } from '../../src/observe/logging/index.ts';

/** A logger that keeps its lines as texts: `E message {"key":"value"}`. */
export function rememberingLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const log = new Logger({
    isEnabled: () => true,
    write: ({ severity, message, fields }) => {
      const { err, ...others } = fields;
      const text = JSON.stringify(
        err === undefined ? others : { err: err instanceof Error ? err.message : err, ...others },
      );
      lines.push(`${severity} ${message} ${text}`);
    },
  });
  return { log, lines };
}
