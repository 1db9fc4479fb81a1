const REDACTED = '<redacted>';
/** A shorter secret would also match ordinary words. */
const MIN_CHARACTERS = 8;
/** A text shows a secret if it has this many of its first characters. Messages may cut the rest off. */
const HEAD_CHARACTERS = 16;
/** The lines of several keys, and some former tokens. */
const MAX_SECRETS = 256;

/** A secret that is still in use is remembered again and again, so the first one is the oldest. */
const secrets = new Set<string>();

/** From now on `withoutSecrets` removes this text: a token, a password, or a key in PEM. */
export function rememberSecret(secret: string): void {
  for (const line of secret.split('\n').map(text => text.trim())) {
    if (line.length < MIN_CHARACTERS || line.startsWith('-----')) continue;
    // A quote or a backslash has another form in a quoted text.
    for (const form of [line, JSON.stringify(line).slice(1, -1)]) {
      secrets.delete(form);
      secrets.add(form);
    }
  }
  for (const oldest of secrets) {
    if (secrets.size <= MAX_SECRETS) break;
    secrets.delete(oldest);
  }
}

/** The text without the secrets of this process. Everything that leaves the process for a reader passes here. */
export function withoutSecrets(text: string): string {
  // All places are found in the text as it is. Two tokens may begin alike, so that removing one would hide the other.
  const places = [...secrets].flatMap(secret => placesOf(secret, text)).sort((a, b) => a.start - b.start);
  let clean = '';
  let from = 0;
  for (const { start, end } of places) {
    if (start >= from) clean += text.slice(from, start) + REDACTED;
    from = Math.max(from, end);
  }
  return clean + text.slice(from);
}

/** The text without the user and the password of URLs: `https://user:password@host`. */
export function withoutUrlCredentials(text: string): string {
  return text.replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, `$1${REDACTED}@`);
}

/** `token=x`, `token: x` or `"token":"x"`, also in a quoted text. Not `default/token:http`, which is a service port. */
const NAMED_SECRET =
  /\b((?:[\w-]*[_-])?(?:token|password|passwd|secret|key-data|api-?key)(?:\\*["']\s*:\s*\\*["']|:\s+\\*["']?|=\\*["']?))[^\s"'\\,}&]{4,}/gi;

const LIKELY_SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // A JSON Web Token, as ServiceAccounts have it.
  [/\beyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?/g, REDACTED],
  [/\b(Bearer|Basic)(\s+)[\w.~+/-]{8,}=*/gi, `$1$2${REDACTED}`],
  [NAMED_SECRET, `$1${REDACTED}`],
];

/**
 * The text without the secrets of this process, and without everything that looks like a secret. For texts that leave
 * the machine, which may have secrets of other programs.
 */
export function withoutLikelySecrets(text: string): string {
  const known = withoutUrlCredentials(withoutSecrets(text));
  return LIKELY_SECRETS.reduce((clean, [pattern, replacement]) => clean.replaceAll(pattern, replacement), known);
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function placesOf(secret: string, text: string): Place[] {
  const places: Place[] = [];
  const head = secret.slice(0, HEAD_CHARACTERS);
  for (let start = text.indexOf(head); start >= 0; start = text.indexOf(head, start + head.length)) {
    let end = start + head.length;
    while (end < text.length && text[end] === secret[end - start]) end++;
    places.push({ start, end });
  }
  return places;
}
