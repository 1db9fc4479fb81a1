/** A file that is no configuration. The message is what kube-proxy tells: `failed to decode: …`. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}
