import { isNull } from 'drizzle-orm'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { projectMembers } from './schema/identity.ts'
import { agents, projects } from './schema/work.ts'

/** Gives every agent and project without an owner to the first person; runs inside their registration. */
export function adoptOrphans(db: Database, owner_id: UserId): void {
  const orphans = db.select({ id: projects.id }).from(projects).where(isNull(projects.owner_id)).all()
  db.update(projects).set({ owner_id }).where(isNull(projects.owner_id)).run()
  db.update(agents).set({ owner_id }).where(isNull(agents.owner_id)).run()
  for (const { id } of orphans) {
    db.insert(projectMembers).values({ project_id: id, user_id: owner_id, role: 'owner' }).onConflictDoNothing().run()
  }
}
