/** A value that JSON can hold. */
export type Plain = string | number | boolean | null | readonly Plain[] | PlainObject;

export interface PlainObject {
  readonly [key: string]: Plain;
}
