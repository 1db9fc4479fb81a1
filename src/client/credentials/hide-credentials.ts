import { withoutSecrets } from '../../lib/secrets.ts';

const REDACTED = '<redacted>';
const NAMED =
  /(["'](?:token|password|clientKeyData)["']\s*:\s*["']|\b(?:token|password|secret)=|\bbearer\s+)[^\s"']+/gi;
/** Lines of PEM look like this. A message that helps has more than one word. */
const SINGLE_WORD_LINE = /^[ \t]*[\w+/=.~-]{16,}[ \t\r]*$/gm;
const LONG_RUN = /[\w+/=.~-]{24,}/g;
const MIN_DIGITS = 4;
const LONG_MIXED_RUN = 40;

/**
 * What a credential plugin wrote to its standard error, without credentials. A plugin that fails may have printed a
 * token that this process never got. So everything that looks like a credential is removed, too.
 */
export function hideCredentials(text: string): string {
  return withoutSecrets(text)
    .replace(NAMED, `$1${REDACTED}`)
    .replace(SINGLE_WORD_LINE, REDACTED)
    .replace(LONG_RUN, run => (looksRandom(run) ? REDACTED : run));
}

/** Host names, paths and identifiers have few digits. */
function looksRandom(run: string): boolean {
  if (run.replace(/\D/g, '').length >= MIN_DIGITS) return true;
  return run.length >= LONG_MIXED_RUN && /\d/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run);
}
