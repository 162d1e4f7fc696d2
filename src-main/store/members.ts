import { and, eq, sql } from 'drizzle-orm'
import type { ProjectId, UserId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { cachedQuery } from './query-cache.ts'
import { projectMembers, users } from './schema/identity.ts'
import type { MemberQueries } from '../ports/project-queries.ts'

export function createMemberQueries(db: Database): MemberQueries {
  const role = db
    .select({ role: projectMembers.role })
    .from(projectMembers)
    .where(
      and(
        eq(projectMembers.project_id, sql.placeholder('project_id')),
        eq(projectMembers.user_id, sql.placeholder('user_id')),
      ),
    )
    .prepare()
  return {
    role: cachedQuery(
      db,
      projectMembers,
      (project_id: ProjectId, user_id: UserId) => role.get({ project_id, user_id })?.role ?? null,
    ),
    projectsOf: (user_id) =>
      new Set(
        db
          .select({ id: projectMembers.project_id })
          .from(projectMembers)
          .where(eq(projectMembers.user_id, user_id))
          .all()
          .map((row) => row.id),
      ),
    isPerson: (user_id) => db.select({ id: users.id }).from(users).where(eq(users.id, user_id)).get() !== undefined,
    list: (project_id) =>
      db
        .select({
          project_id: projectMembers.project_id,
          user_id: projectMembers.user_id,
          role: projectMembers.role,
          email: users.email,
          handle: users.handle,
          display_name: users.display_name,
        })
        .from(projectMembers)
        .innerJoin(users, eq(users.id, projectMembers.user_id))
        .where(eq(projectMembers.project_id, project_id))
        .orderBy(users.id)
        .all(),
    put: (project_id, user_id, role) =>
      void db
        .insert(projectMembers)
        .values({ project_id, user_id, role })
        .onConflictDoUpdate({ target: [projectMembers.project_id, projectMembers.user_id], set: { role } })
        .run(),
    delete: (project_id, user_id) =>
      void db
        .delete(projectMembers)
        .where(and(eq(projectMembers.project_id, project_id), eq(projectMembers.user_id, user_id)))
        .run(),
  }
}
