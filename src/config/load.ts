import type { Configuration } from './configuration.ts';
import { ConfigurationError } from './configuration-error.ts';
import { toConfiguration } from './convert.ts';
import { type Decoded, decode } from './decode.ts';
import { withDefaults } from './defaults.ts';
import { DecodeError } from './schema/index.ts';
import { kubeProxyConfiguration } from './v1alpha1.ts';

export interface LoadedConfiguration {
  readonly configuration: Configuration;
  /** What a strict reading refuses and was let pass. To be logged as `Using lenient decoding as strict decoding failed`. */
  readonly lenient?: string;
}

/**
 * The configuration that a file's text has, with all defaults but those of the platform. Throws a ConfigurationError.
 */
export function loadConfiguration(text: string): LoadedConfiguration {
  const { file, strict } = decodeText(text);
  const configuration = toConfiguration(withDefaults(file));
  if (strict.length === 0) return { configuration };
  return { configuration, lenient: `strict decoding error: ${strict.join(', ')}` };
}

/** What flags start from: a file without anything in it. */
export function defaultConfiguration(): Configuration {
  return toConfiguration(withDefaults(kubeProxyConfiguration.zero));
}

function decodeText(text: string): Decoded {
  try {
    return decode(text);
  } catch (error) {
    if (error instanceof DecodeError) throw new ConfigurationError(`failed to decode: ${error.message}`);
    throw error;
  }
}
