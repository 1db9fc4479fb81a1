const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['"', '\\"'],
  ['\\', '\\\\'],
]);

/** A text in double quotes as Go's %q writes it, for messages that people compare or search for. */
export function quote(text: string): string {
  const escaped = text.replaceAll(/["\\]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu, character => {
    const short = SHORT_ESCAPES.get(character);
    if (short !== undefined) return short;
    const code = character.codePointAt(0) ?? 0;
    // Half of a surrogate pair is nothing that UTF-8 can hold.
    if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
    if (code < 0x80) return `\\x${hex(code, 2)}`;
    return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  });
  return `"${escaped}"`;
}

/** A value as Go's encoding/json writes it: compact, and with `<`, `>` and `&` escaped. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, character => {
    return `\\u${hex(character.codePointAt(0) ?? 0, 4)}`;
  });
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
