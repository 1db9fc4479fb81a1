/** An answer that makes no sense: what was read of it cannot be relied on. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}
