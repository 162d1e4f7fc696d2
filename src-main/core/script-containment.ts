import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { ProjectSettings } from '../../src-shared/contract/projects.ts'
import type { ContainmentRules } from '../ports/containment.ts'
import { toSettings } from './views.ts'
import type { ProjectQueries } from '../ports/project-queries.ts'

/** Returns the containment rules of a project's CI steps, hooks and setup commands. */
export function scriptContainment(settings: ProjectSettings): ContainmentRules {
  const { ci_containment: level, allowed_hosts: hosts, extra_paths } = settings
  return { level, hosts, read: extra_paths.read ?? [], write: extra_paths.write ?? [] }
}

/** Returns the rules of a project that may be deleted, from its last settings. */
export function scriptContainmentOf(
  { projects }: { readonly projects: ProjectQueries },
  id: ProjectId,
): ContainmentRules {
  const project = projects.get(id)
  return project ? scriptContainment(toSettings(project)) : { level: 'auto' }
}
