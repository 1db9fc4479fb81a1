import { goQuote } from '../go-quote.ts';
import { MAX_LEVELS, placeOf, TooDeepError } from '../nesting.ts';
import { DocumentError, type Member, type Node, NULL } from './node.ts';

/** Parses JSON. Keeps duplicate keys and the digits of numbers. Throws a DocumentError with Go's message. */
export function readJson(text: string): Node {
  const reader = new JsonReader(text);
  const node = reader.value('looking for beginning of value', 0);
  reader.end();
  return node;
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(context: string, level: number): Node {
    const character = this.#peek();
    if (level >= MAX_LEVELS && /[[{]/.test(character)) this.#refuseLevel();
    switch (character) {
      case '{':
        return this.#object(level);
      case '[':
        return this.#array(level);
      case '"':
        return { kind: 'string', text: this.#string() };
      case 't':
        return this.#literal('true', { kind: 'bool', value: true });
      case 'f':
        return this.#literal('false', { kind: 'bool', value: false });
      case 'n':
        return this.#literal('null', NULL);
      default:
        return /[-0-9]/.test(character) ? this.#number() : this.#fail(context);
    }
  }

  end(): void {
    this.#skipBlanks();
    if (this.#at < this.#text.length) this.#fail('after top-level value');
  }

  #object(level: number): Node {
    const members: Member[] = [];
    this.#at++;
    if (this.#peek() === '}') return this.#closed({ kind: 'object', members });
    for (;;) {
      if (this.#peek() !== '"') this.#fail('looking for beginning of object key string');
      const key = this.#string();
      if (this.#peek() !== ':') this.#fail('after object key');
      this.#at++;
      members.push({ key, value: this.value('looking for beginning of value', level + 1) });
      const mark = this.#peek();
      if (mark === '}') return this.#closed({ kind: 'object', members });
      if (mark !== ',') this.#fail('after object key:value pair');
      this.#at++;
    }
  }

  #array(level: number): Node {
    const items: Node[] = [];
    this.#at++;
    if (this.#peek() === ']') return this.#closed({ kind: 'array', items });
    for (;;) {
      items.push(this.value('looking for beginning of value', level + 1));
      const mark = this.#peek();
      if (mark === ']') return this.#closed({ kind: 'array', items });
      if (mark !== ',') this.#fail('after array element');
      this.#at++;
    }
  }

  #closed(node: Node): Node {
    this.#at++;
    return node;
  }

  #literal(word: string, node: Node): Node {
    for (const [index, letter] of [...word].entries()) {
      if (this.#text[this.#at] !== letter) this.#fail(`in literal ${word} (expecting '${letter}')`);
      this.#at++;
      if (index === word.length - 1) return node;
    }
    return node;
  }

  #number(): Node {
    const start = this.#at;
    if (this.#text[this.#at] === '-') this.#at++;
    if (this.#text[this.#at] === '0') this.#at++;
    else this.#digits('in numeric literal');
    if (this.#text[this.#at] === '.') {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    if (/[eE]/.test(this.#text[this.#at] ?? '')) {
      this.#at++;
      if (/[-+]/.test(this.#text[this.#at] ?? '')) this.#at++;
      this.#digits('in exponent of numeric literal');
    }
    return { kind: 'number', text: this.#text.slice(start, this.#at) };
  }

  #digits(context: string): void {
    const start = this.#at;
    while (/[0-9]/.test(this.#text[this.#at] ?? '')) this.#at++;
    if (this.#at === start) this.#fail(context);
  }

  #string(): string {
    const start = this.#at++;
    for (;;) {
      const character = this.#text[this.#at] ?? '';
      if (character < ' ') this.#fail('in string literal');
      this.#at++;
      if (character === '"') break;
      if (character === '\\') this.#escape();
    }
    // For Go, half of a surrogate pair is not a character.
    return String(JSON.parse(this.#text.slice(start, this.#at))).replaceAll(/\p{Surrogate}/gu, '\ufffd');
  }

  #escape(): void {
    if (!/["\\/bfnrtu]/.test(this.#text[this.#at] ?? '')) this.#fail('in string escape code');
    if (this.#text[this.#at++] !== 'u') return;
    for (let digit = 0; digit < 4; digit++, this.#at++) {
      if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? '')) this.#fail('in \\u hexadecimal character escape');
    }
  }

  /** Skips blanks. Returns the next character without reading it, empty at the end. */
  #peek(): string {
    this.#skipBlanks();
    return this.#text[this.#at] ?? '';
  }

  #skipBlanks(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #refuseLevel(): never {
    const { line, column } = placeOf(this.#text, this.#at);
    throw new DocumentError(`line ${line} column ${column}: ${new TooDeepError(this.#at).advice}`);
  }

  #fail(context: string): never {
    const character = this.#text[this.#at];
    if (character === undefined) throw new DocumentError('unexpected end of JSON input');
    const shown = character === "'" ? "'\\''" : character === '"' ? `'"'` : `'${goQuote(character).slice(1, -1)}'`;
    throw new DocumentError(`invalid character ${shown} ${context}`);
  }
}
