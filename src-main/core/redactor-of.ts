import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { Ground } from './ground.ts'
import { toSettings } from './views.ts'
import type { ProjectQueries } from '../ports/project-queries.ts'

/** Returns the redactor for a project's tasks, which includes the project's own patterns. */
export function redactorOf(
  { redactor }: Pick<Ground, 'redactor'>,
  q: { readonly projects: ProjectQueries },
  project_id: ProjectId,
): (text: string) => string {
  const project = q.projects.get(project_id)
  return redactor(project ? toSettings(project).redaction_patterns : [])
}
