/** Why the proxy cannot start, in words for an operator. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

export const CONFIGURATION_UPDATED = "content of the proxy server's configuration file was updated";
