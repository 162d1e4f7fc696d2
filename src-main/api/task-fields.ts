import type { TaskRecord } from '../ports/store.ts'

/** Fields of an input that are all fields of the record, by the same names: anything else does not compile. */
export type TaskColumns<T> = { readonly [K in keyof T]: K extends keyof TaskRecord ? TaskRecord[K] | undefined : never }

/** Returns the fields that were given. */
export function givenFields<T extends TaskColumns<T>>(fields: T): Partial<TaskRecord> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
