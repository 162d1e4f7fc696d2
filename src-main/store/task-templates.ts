import { eq } from 'drizzle-orm'
import type { Queries } from '../ports/store.ts'
import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { taskTemplates } from './schema/notes.ts'

export function createTaskTemplateQueries(db: Database): Queries['task_templates'] {
  return {
    get: prepareGet(db, taskTemplates, taskTemplates.id),
    ofProject: prepareAll(db, taskTemplates, 'WHERE project_id = ? ORDER BY name COLLATE NOCASE, id'),
    put: prepareUpsert(db, taskTemplates, taskTemplates.id),
    delete: (id) => void db.delete(taskTemplates).where(eq(taskTemplates.id, id)).run(),
  }
}
