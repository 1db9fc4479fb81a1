/**
 * What keeps a token from being sent, without a word of the token itself: connections only say that the protocol was
 * violated, or refuse the whole header.
 */
export function tokenProblem(token: string): string | undefined {
  if (/[\r\n]/.test(token)) return 'holds a line break, which no header can carry: write the token on one line';
  // A tab is the one control character that a header may have.
  if (!/[^\P{Cc}\t]/u.test(token)) return undefined;
  return 'holds a control character, which no header can carry: write the token as plain text';
}

/** The header for a token. What is not ASCII goes as the bytes of its UTF-8, as Go sends it. */
export function bearer(token: string): string {
  return `Bearer ${Buffer.from(token).toString('latin1')}`;
}
