/** Why the proxy cannot start, in words for an operator. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
