/** Fields that `R` has by the same names: one that it does not have can't be filled. */
type FieldsOf<R, T> = { readonly [K in keyof T]: K extends keyof R ? R[K] | undefined : never }

/** The same without those that are undefined. */
type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/**
 * Returns the fields of an input that were given, to be spread over a record `R`. A handler takes out of an input what
 * it treats by itself and passes the rest: a new field of the input is stored then, or does not compile.
 */
export function givenFields<R>(): <T extends FieldsOf<R, T>>(fields: T) => Given<T> {
  return <T extends FieldsOf<R, T>>(fields: T) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>
}
