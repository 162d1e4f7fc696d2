import { customType, integer } from 'drizzle-orm/sqlite-core'

/** JSON as text, never NULL. Drizzle's own mode writes `null` as text for a null placeholder. */
export const json = <T>(name: string) =>
  customType<{ data: T; driverData: string | null }>({
    dataType: () => 'text',
    toDriver: (value: T | null) => (value === null ? null : JSON.stringify(value)),
    fromDriver: (value) => JSON.parse(value ?? 'null') as T,
  })(name)

/** A boolean as 1 or 0. */
export const flag = (name: string) => integer(name, { mode: 'boolean' })
