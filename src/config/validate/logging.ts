import { formatDuration } from '../../lib/duration.ts';
import { goQuote } from '../../lib/go-quote.ts';
import type { LoggingConfiguration, OutputOptions, VModuleItem } from '../configuration.ts';
import { type FeatureGates, isEnabled } from '../feature-gates.ts';
import { parseQuantity, quantityValue } from '../quantity.ts';
import { type FieldError, invalid } from './field-error.ts';

const MAX_VERBOSITY = 2 ** 31 - 1;

/** Checks the logging section. kube-proxy does so twice: when it sets up logging, and with the whole configuration. */
export function validateLogging(path: string, logging: LoggingConfiguration, gates: FeatureGates): FieldError[] {
  const { flushFrequency, format, verbosity, vmodule, options } = logging;
  const errors: FieldError[] = [];
  if (flushFrequency <= 0n) {
    const value = logging.flushFrequencyIsNumber ? String(flushFrequency) : goQuote(formatDuration(flushFrequency));
    errors.push(invalid(`${path}.flushFrequency`, value, 'Must be greater than zero'));
  }
  errors.push(...validateFormat(`${path}.format`, format, gates));
  errors.push(...validateVerbosity(`${path}.verbosity`, verbosity));
  if (vmodule.length > 0 && format !== '' && format !== 'text') {
    errors.push({ kind: 'forbidden', path: `${path}.vmodule`, detail: 'Only supported for text log format' });
  }
  errors.push(...vmodule.flatMap((item, index) => validateVModuleItem(`${path}.vmodule[${index}]`, item)));
  errors.push(...validateOutputOptions(`${path}.options.text`, options.text, gates));
  errors.push(...validateOutputOptions(`${path}.options.json`, options.json, gates));
  return errors;
}

function validateFormat(path: string, format: string, gates: FeatureGates): FieldError[] {
  if (format !== 'text' && format !== 'json') return [invalid(path, goQuote(format), 'Unsupported log format')];
  if (format === 'text' || isEnabled(gates, 'LoggingBetaOptions')) return [];
  return [{ kind: 'forbidden', path, detail: 'Log format json is disabled, see LoggingBetaOptions feature' }];
}

function validateVerbosity(path: string, verbosity: number): FieldError[] {
  return verbosity > MAX_VERBOSITY ? [invalid(path, String(verbosity), `Must be <= ${MAX_VERBOSITY}`)] : [];
}

function validateVModuleItem(path: string, item: VModuleItem): FieldError[] {
  const errors: FieldError[] = [];
  if (item.filePattern === '') errors.push({ kind: 'required', path, detail: 'File pattern must not be empty' });
  if (/[=,]/.test(item.filePattern)) {
    errors.push(invalid(path, goQuote(item.filePattern), 'File pattern must not contain equal sign or comma'));
  }
  return [...errors, ...validateVerbosity(path, item.verbosity)];
}

function validateOutputOptions(path: string, options: OutputOptions, gates: FeatureGates): FieldError[] {
  if (isEnabled(gates, 'LoggingAlphaOptions')) return [];
  const detail = 'Feature LoggingAlphaOptions is disabled';
  const errors: FieldError[] = [];
  if (options.splitStream) errors.push({ kind: 'forbidden', path: `${path}.splitStream`, detail });
  if (quantityValue(parseQuantity(options.infoBufferSize)) !== 0n)
    errors.push({ kind: 'forbidden', path: `${path}.infoBufferSize`, detail });
  return errors;
}
