import { stringify } from 'yaml';
import { printable, printableJson } from '../lib/printable.ts';

/** Prints one document of JSON or YAML whose list comes row by row. */
export interface DocumentStream {
  add(row: unknown): void;
  end(): void;
}

export function documentStream(
  form: 'json' | 'yaml',
  head: Readonly<Record<string, unknown>>,
  listName: string,
  print: (text: string) => void,
): DocumentStream {
  return form === 'json' ? jsonStream(head, listName, print) : yamlStream(head, listName, print);
}

function jsonStream(
  head: Readonly<Record<string, unknown>>,
  listName: string,
  print: (text: string) => void,
): DocumentStream {
  const fields = Object.entries(head).map(([name, value]) => `  ${jsonText(name)}: ${jsonText(value)},\n`);
  print(`{\n${fields.join('')}  ${jsonText(listName)}: [`);
  let isFirst = true;
  return {
    add(row) {
      print(`${isFirst ? '' : ','}\n    ${jsonText(row)}`);
      isFirst = false;
    },
    end: () => print(isFirst ? ']\n}\n' : '\n  ]\n}\n'),
  };
}

/** A text stays on one line, and rows of rows are indented as the rows are. */
export const YAML_OPTIONS = { lineWidth: 0, indentSeq: false };

/** One line of JSON for a terminal. */
export function jsonText(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

function yamlStream(
  head: Readonly<Record<string, unknown>>,
  listName: string,
  print: (text: string) => void,
): DocumentStream {
  print(stringify(printableTexts(head), YAML_OPTIONS));
  let isFirst = true;
  return {
    add(row) {
      print(`${isFirst ? `${listName}:\n` : ''}${stringify([printableTexts(row)], YAML_OPTIONS)}`);
      isFirst = false;
    },
    end() {
      if (isFirst) print(`${listName}: []\n`);
    },
  };
}

/** A whole document for a terminal, indented. */
export function jsonDocument(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`.replaceAll(/.+/g, printableJson);
}

/** Texts of objects can contain anything, and a terminal obeys some characters. */
export function printableTexts<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
    typeof each === 'string' ? printable(each) : each,
  );
}
