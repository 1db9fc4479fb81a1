/** A list of choices with more entries helps nobody, and would make 44,000 elements. */
const MAX_CHOICES = 30;

/** The Services whose names have a text: first those whose name begins with it. */
export function serviceChoices(sorted: Iterable<{ readonly key: string }>, text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  const beginning: string[] = [];
  const others: string[] = [];
  for (const { key } of sorted) {
    const lower = key.toLowerCase();
    if (lower.startsWith(wanted) || lower.slice(lower.indexOf('/') + 1).startsWith(wanted)) beginning.push(key);
    else if (others.length < MAX_CHOICES && lower.includes(wanted)) others.push(key);
    if (beginning.length === MAX_CHOICES) break;
  }
  return [...beginning, ...others].slice(0, MAX_CHOICES);
}
