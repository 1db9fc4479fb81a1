import { goFloatName } from '../go-float-name.ts';
import { compareKeys } from './compare-keys.ts';
import type { Plain, PlainObject } from './plain.ts';
import { scalarText } from './scalar-text.ts';

/**
 * Writes block YAML in the same way as kube-proxy: keys are sorted, lists are not indented below their key. So a file
 * does not differ from one that kube-proxy wrote.
 */
export function writeYaml(value: Plain): string {
  return isObject(value) ? blockText(value, '') : `${inlineText(value, '', 0)}\n`;
}

function blockText(object: PlainObject, indent: string): string {
  const keys = Object.keys(object).sort(compareKeys);
  return keys.map(key => `${indent}${memberText(key, object[key] ?? null, indent)}`).join('');
}

function memberText(key: string, value: Plain, indent: string): string {
  const name = scalarText(key, { indent, column: indent.length, isKey: true });
  if (isList(value) && value.length > 0) return `${name}:\n${value.map(item => itemText(item, indent)).join('')}`;
  if (isObject(value) && Object.keys(value).length > 0) return `${name}:\n${blockText(value, `${indent}  `)}`;
  return `${name}: ${inlineText(value, indent, `${indent}${name}: `.length)}\n`;
}

function itemText(item: Plain, indent: string): string {
  // The first line is after the dash, which replaces the indentation of the line.
  if (isObject(item) && Object.keys(item).length > 0) return `${indent}- ${blockText(item, `${indent}  `).trimStart()}`;
  return `${indent}- ${inlineText(item, indent, `${indent}- `.length)}\n`;
}

function inlineText(value: Plain, indent: string, column: number): string {
  if (typeof value === 'string') return scalarText(value, { indent, column, isKey: false });
  if (isList(value)) return '[]';
  if (isObject(value)) return '{}';
  return typeof value === 'number' ? numberText(value) : String(value);
}

/** Writes integers of 64 bits in full, and other numbers like Go's %g: from a million on with an exponent. */
function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`json: unsupported value: ${goFloatName(value)}`);
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return String(BigInt(value));
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

function isList(value: Plain): value is readonly Plain[] {
  return Array.isArray(value);
}

function isObject(value: Plain): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
