import { customType, integer } from 'drizzle-orm/sqlite-core'

/** JSON as text; nothing is NULL. Drizzle's own mode writes the word `null` where a placeholder is null. */
export const json = <T>(name: string) =>
  customType<{ data: T; driverData: string | null }>({
    dataType: () => 'text',
    toDriver: (value: T | null) => (value === null ? null : JSON.stringify(value)),
    fromDriver: (value) => JSON.parse(value ?? 'null') as T,
  })(name)

/** Yes or no, as 1 or 0. */
export const flag = (name: string) => integer(name, { mode: 'boolean' })
