/** Closes a union: a call that type-checks proves that every case was handled. */
export function assertNever(value: never): never {
  throw new Error(`A case that cannot happen happened: ${JSON.stringify(value)}`)
}
