import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { AgentId, ProjectId, UserId } from '../../../src-shared/contract/ids.ts'
import { invalidInput } from '../../domain/refusal.ts'
import { isAdmin, type Principal } from '../../domain/access/principal.ts'
import { canSeeAgent } from '../agent-visibility.ts'
import { canWorkIn } from '../assignee.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { unwrap, findProject, throwNotFound } from '../find.ts'

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

/** Handlers for projects' connections to issue trackers. */
export function createIntegrationHandlers(parts: ApiParts): Handlers<Names> {
  const { integrations, engine } = parts
  return {
    'integrations.create': ({ project_id, ...fields }, { principal }) => {
      checkVariable(parts, principal, fields.token_secret_ref)
      checkVariable(parts, principal, fields.webhook_secret_ref)
      checkAssignee(parts, principal, project_id, fields)
      return unwrap(integrations.create(project_id, fields, binderOf(principal)))
    },
    'integrations.get': ({ project_id }) => integrations.get(project_id) ?? throwNotFound('integration'),
    'integrations.update': ({ project_id, ...patch }, { principal }) => {
      const now = integrations.get(project_id) ?? throwNotFound('integration')
      checkVariable(parts, principal, patch.token_secret_ref)
      checkVariable(parts, principal, patch.webhook_secret_ref)
      if (patch.default_assignee_type !== undefined || patch.default_assignee_id !== undefined) {
        const { default_assignee_type = now.default_assignee_type, default_assignee_id = now.default_assignee_id } =
          patch
        checkAssignee(parts, principal, project_id, { default_assignee_type, default_assignee_id })
      }
      const updated = unwrap(
        integrations.update(project_id, patch, binderOf(principal)) ?? throwNotFound('integration'),
      )
      engine.pullRequests.poke(project_id)
      return updated
    },
    'integrations.delete': ({ project_id }) => {
      if (!integrations.delete(project_id)) throwNotFound('integration')
      return null
    },
    'integrations.sync': async ({ project_id }, { principal }) =>
      unwrap((await integrations.sync(project_id, binderOf(principal))) ?? throwNotFound('integration')),
    'tasks.link': ({ task_id, url }) => ({ task: engine.views.task(unwrap(integrations.link(task_id, url))) }),
  }
}

const binderOf = (principal: Principal) => ({ may_rebind: isAdmin(principal) })

/** If other machines can sign in, an owner who is no admin may not name arbitrary variables of the service. */
function checkVariable({ config }: ApiParts, principal: Principal, name: string | null | undefined): void {
  if (name == null || !config.exposed || isAdmin(principal) || /^SVC_/.test(name)) return
  throw new ApiError({
    code: 'secret_ref_forbidden',
    status: 403,
    message: 'Name a variable that begins with SVC_SECRET_, or ask an admin: this service is open to other machines.',
  })
}

/** Throws unless the assignee of imported tasks can work on them. */
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
    if (!agent || !canSeeAgent(read, principal, agent)) throw invalid("This agent doesn't exist.")
    if (!canWorkIn(read, agent, project)) {
      throw invalid(`${agent.name} can't work in this project, because its owner isn't a member.`)
    }
    return
  }
  const user = parts.identity.users.get(id as UserId)
  if (!user) throw invalid("This user doesn't exist.")
  if (project.owner_id !== null && read.members.role(project.id, user.id) === null) {
    throw invalid(`${user.display_name} isn't a member of this project.`)
  }
}

const invalid = (message: string) => new ApiError(invalidInput('default_assignee_id', message))
