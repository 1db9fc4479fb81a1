/** The proxy cannot start. The message tells an operator why. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
