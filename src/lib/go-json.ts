/** A value as Go's encoding/json writes it: compact, with `<`, `>` and `&` escaped. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, character => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
