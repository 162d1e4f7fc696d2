import { eq } from 'drizzle-orm'
import type { Database } from './database-type.ts'
import { installation } from './schema/identity.ts'

/** Returns a value of the installation, or null if it was never set. */
export function readInstallation(db: Database, key: string): string | null {
  return db.select().from(installation).where(eq(installation.key, key)).get()?.value ?? null
}

/** Sets a value of the installation. */
export function writeInstallation(db: Database, key: string, value: string): void {
  db.insert(installation).values({ key, value }).onConflictDoUpdate({ target: installation.key, set: { value } }).run()
}
