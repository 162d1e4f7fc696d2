import { eq, isNull } from 'drizzle-orm'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { viewedFiles } from './schema/diffs.ts'
import { projectMembers } from './schema/identity.ts'
import { notificationReads } from './schema/notes.ts'
import { agents, projects } from './schema/work.ts'

/** Whose marks they are while nobody has registered. */
const operator = 'operator'

/**
 * Gives every agent and project without an owner to the first person, and what the person at this machine has marked
 * as read or viewed: they are one from now on. Runs inside their registration.
 */
export function adoptOrphans(db: Database, owner_id: UserId): void {
  const orphans = db.select({ id: projects.id }).from(projects).where(isNull(projects.owner_id)).all()
  db.update(projects).set({ owner_id }).where(isNull(projects.owner_id)).run()
  db.update(agents).set({ owner_id }).where(isNull(agents.owner_id)).run()
  db.update(notificationReads).set({ reader: owner_id }).where(eq(notificationReads.reader, operator)).run()
  db.update(viewedFiles).set({ reader: owner_id }).where(eq(viewedFiles.reader, operator)).run()
  for (const { id } of orphans) {
    db.insert(projectMembers).values({ project_id: id, user_id: owner_id, role: 'owner' }).onConflictDoNothing().run()
  }
}
