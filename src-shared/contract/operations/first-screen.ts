import { z } from 'zod'
import { firstScreenParts } from '../first-screen-parts.ts'
import { ProjectId } from '../ids.ts'
import { get } from '../operation.ts'
import { agentsOperations } from './agents.ts'
import { identityOperations } from './identity.ts'
import { landingOperations } from './landing.ts'
import { membersOperations } from './members.ts'
import { notificationsOperations } from './notifications.ts'
import { projectsOperations } from './projects.ts'
import { queueOperations } from './queue.ts'
import { runnersOperations } from './runners.ts'
import { tasksOperations } from './tasks.ts'

const parts = {
  ...projectsOperations,
  ...identityOperations,
  ...agentsOperations,
  ...runnersOperations,
  ...notificationsOperations,
  ...tasksOperations,
  ...membersOperations,
  ...queueOperations,
  ...landingOperations,
}

const answers = Object.fromEntries(
  [...firstScreenParts.ofService, ...firstScreenParts.ofProject].map((name) => [name, parts[name].output.optional()]),
)

/** Many answers in one, so that a page waits for one request instead of a dozen. */
export const firstScreenOperations = {
  'projects.first_screen': get(
    '/projects/{project_id}/first_screen',
    'member_human',
    'What a project’s board shows at first: the answers of these operations in one, by name. One that is refused is missing.',
    z.object({ project_id: ProjectId }),
    z.object(answers),
  ),
} as const
