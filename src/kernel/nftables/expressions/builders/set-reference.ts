/** A set or map by its name. One that is anonymous is created in the same batch and has an id too. */
export type SetReference = string | { readonly name: string; readonly id?: number };

/** The fields by which an expression names a set. */
export function setFields(set: SetReference): { readonly set: string; readonly setId?: number } {
  if (typeof set === 'string') return { set };
  return { set: set.name, ...(set.id !== undefined && { setId: set.id }) };
}
