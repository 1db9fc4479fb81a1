import { type Plain, writeYaml } from '../lib/document/index.ts';
import type { Configuration } from './configuration.ts';
import { toFile } from './convert.ts';
import { kubeProxyConfiguration } from './v1alpha1.ts';

/** The text that --write-config-to writes. */
export function encodeConfiguration(configuration: Configuration): string {
  return writeYaml(configurationObject(configuration));
}

/** The configuration as a v1alpha1 object that JSON can hold, fields in the order in which /configz shows them. */
export function configurationObject(configuration: Configuration): Plain {
  return kubeProxyConfiguration.write(toFile(configuration)) ?? null;
}
