import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { AgentId, ProjectId, UserId } from '../../../src-shared/contract/ids.ts'
import { invalidInput } from '../../domain/refusal.ts'
import { mayWorkIn } from '../../domain/access/agents.ts'
import type { Principal } from '../../domain/access/principal.ts'
import { seesAgent } from '../agent-sight.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { accepted, findProject, missing } from '../find.ts'

type Names =
  | 'integrations.create'
  | 'integrations.get'
  | 'integrations.update'
  | 'integrations.delete'
  | 'integrations.sync'
  | 'tasks.link'

interface Assignee {
  readonly default_assignee_type?: 'agent' | 'user' | null | undefined
  readonly default_assignee_id?: AgentId | UserId | null | undefined
}

/** Ties of projects to issue trackers. */
export function createIntegrationHandlers(parts: ApiParts): Handlers<Names> {
  const { integrations, engine } = parts
  return {
    'integrations.create': ({ project_id, ...fields }, { principal }) => {
      checkAssignee(parts, principal, project_id, fields)
      return accepted(integrations.create(project_id, fields))
    },
    'integrations.get': ({ project_id }) => integrations.get(project_id) ?? missing('integration'),
    'integrations.update': ({ project_id, ...patch }, { principal }) => {
      const now = integrations.get(project_id) ?? missing('integration')
      if (patch.default_assignee_type !== undefined || patch.default_assignee_id !== undefined) {
        const { default_assignee_type = now.default_assignee_type, default_assignee_id = now.default_assignee_id } =
          patch
        checkAssignee(parts, principal, project_id, { default_assignee_type, default_assignee_id })
      }
      return accepted(integrations.update(project_id, patch) ?? missing('integration'))
    },
    'integrations.delete': ({ project_id }) => {
      if (!integrations.delete(project_id)) missing('integration')
      return null
    },
    'integrations.sync': async ({ project_id }) =>
      accepted((await integrations.sync(project_id)) ?? missing('integration')),
    'tasks.link': ({ task_id, url }) => ({ task: engine.views.task(accepted(integrations.link(task_id, url))) }),
  }
}

/** Whoever is to get the imported tasks must be able to work on them. */
function checkAssignee(
  parts: ApiParts,
  principal: Principal,
  project_id: ProjectId,
  { default_assignee_type: type, default_assignee_id: id }: Assignee,
) {
  if (!type || !id) return
  const { read } = parts.store
  const project = findProject(read, project_id)
  if (type === 'agent') {
    const agent = read.agents.get(id as AgentId)
    if (!agent || !seesAgent(read, principal, agent)) throw invalid('There is no such agent.')
    const isMember = agent.owner_id !== null && read.members.role(project.id, agent.owner_id) !== null
    if (!mayWorkIn(agent, project, isMember)) {
      throw invalid(`${agent.name} may not work in this project: its owner is no member of it.`)
    }
    return
  }
  const user = parts.identity.users.get(id as UserId)
  if (!user) throw invalid('There is no such user.')
  if (project.owner_id !== null && read.members.role(project.id, user.id) === null) {
    throw invalid(`${user.display_name} is no member of this project.`)
  }
}

const invalid = (message: string) => new ApiError(invalidInput('default_assignee_id', message))
