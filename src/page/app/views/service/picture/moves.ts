/** The columns that the operator chooses from. */
export interface Choices {
  readonly callers: readonly string[];
  readonly frontends: readonly string[];
}

export interface Position {
  readonly column: keyof Choices;
  readonly id: string;
}

/** Where an arrow key leads from an item. Undefined for other keys, and at the border. */
export function move(choices: Choices, { column, id }: Position, key: string): Position | undefined {
  const index = choices[column].indexOf(id);
  const to = (other: keyof Choices, at: number): Position | undefined => {
    const found = choices[other][at];
    return found === undefined ? undefined : { column: other, id: found };
  };
  const beside = (other: keyof Choices) => to(other, Math.min(index, choices[other].length - 1));
  switch (key) {
    case 'ArrowUp':
      return to(column, index - 1);
    case 'ArrowDown':
      return to(column, index + 1);
    case 'ArrowLeft':
      return column === 'frontends' ? beside('callers') : undefined;
    case 'ArrowRight':
      return column === 'callers' ? beside('frontends') : undefined;
    default:
      return undefined;
  }
}
