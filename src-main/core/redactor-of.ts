import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { Ground } from './ground.ts'
import type { Queries } from '../ports/store.ts'
import { toSettings } from './views.ts'

/** Returns the redactor for a project's tasks, which includes the project's own patterns. */
export function redactorOf(
  { redactor }: Pick<Ground, 'redactor'>,
  q: Pick<Queries, 'projects'>,
  project_id: ProjectId,
): (text: string) => string {
  const project = q.projects.get(project_id)
  return redactor(project ? toSettings(project).redaction_patterns : [])
}
