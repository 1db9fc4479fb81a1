/** Why the proxy cannot start or must end. The message is for the operator. */
export class FatalError extends Error {
  override readonly name = 'FatalError';
}
