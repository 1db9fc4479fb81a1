/** Refers to a set or map by its name. An anonymous set is created in the same batch and also needs an id. */
export type SetReference = string | { readonly name: string; readonly id?: number };

/** The fields of an expression that refer to a set. */
export function setFields(set: SetReference): { readonly set: string; readonly setId?: number } {
  if (typeof set === 'string') return { set };
  return { set: set.name, ...(set.id !== undefined && { setId: set.id }) };
}
