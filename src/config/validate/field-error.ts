import { goQuote } from '../../lib/go-quote.ts';

/** A fault in a field, in the form in which Kubernetes reports it. */
export type FieldError =
  | { readonly kind: 'invalid'; readonly path: string; readonly value: string; readonly detail: string }
  | {
      readonly kind: 'unsupported';
      readonly path: string;
      readonly value: string;
      readonly supported: readonly string[];
    }
  | { readonly kind: 'duplicate'; readonly path: string; readonly value: string }
  | { readonly kind: 'required' | 'forbidden'; readonly path: string; readonly detail: string };

/** `value` is the text to show: a quoted text, or JSON. */
export function invalid(path: string, value: string, detail: string): FieldError {
  return { kind: 'invalid', path, value, detail };
}

export function fieldErrorText(error: FieldError): string {
  switch (error.kind) {
    case 'invalid':
      return `${error.path}: Invalid value: ${error.value}: ${error.detail}`;
    case 'unsupported':
      return `${error.path}: Unsupported value: ${error.value}: supported values: ${error.supported.map(goQuote).join(', ')}`;
    case 'duplicate':
      return `${error.path}: Duplicate value: ${error.value}`;
    case 'required':
      return `${error.path}: Required value: ${error.detail}`;
    case 'forbidden':
      return `${error.path}: Forbidden: ${error.detail}`;
  }
}

/** Joins all errors in one line: several in brackets, and none twice. */
export function aggregate(errors: readonly (FieldError | string)[]): string {
  const texts = new Set(errors.map(error => (typeof error === 'string' ? error : fieldErrorText(error))));
  const [first = ''] = texts;
  return texts.size === 1 ? first : `[${[...texts].join(', ')}]`;
}
