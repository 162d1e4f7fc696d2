import { eq } from 'drizzle-orm'
import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { taskTemplates } from './schema/notes.ts'
import type { TaskTemplateQueries } from '../ports/task-template-queries.ts'

export function createTaskTemplateQueries(db: Database): TaskTemplateQueries {
  return {
    get: prepareGet(db, taskTemplates, taskTemplates.id),
    ofProject: prepareAll(db, taskTemplates, 'WHERE project_id = ? ORDER BY name COLLATE NOCASE, id'),
    put: prepareUpsert(db, taskTemplates, taskTemplates.id),
    delete: (id) => void db.delete(taskTemplates).where(eq(taskTemplates.id, id)).run(),
  }
}
