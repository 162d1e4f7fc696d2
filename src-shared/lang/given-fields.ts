/** Fields that `R` has under the same names: an unknown field can't be filled. */
type FieldsOf<R, T> = { readonly [K in keyof T]: K extends keyof R ? R[K] | undefined : never }

/** The same fields without undefined. */
type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/**
 * Returns the given fields of an input, to be spread over a record `R`. A handler removes the fields that it handles
 * itself and passes the rest, so that a new field of the input is either stored or does not compile.
 */
export function givenFields<R>(): <T extends FieldsOf<R, T>>(fields: T) => Given<T> {
  return <T extends FieldsOf<R, T>>(fields: T) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>
}
