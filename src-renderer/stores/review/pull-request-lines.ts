import { defineStore } from 'pinia'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { forgeName } from '../../model/forge-name.ts'
import type { PullRequestLineFacts } from '../../model/task-line.ts'
import { hasTrait } from '../../model/workflow-shape.ts'
import { useIntegrations } from '../project/integrations.ts'
import { usePullRequests } from './pull-requests.ts'

/** What the line of a task needs to know of its pull request. Of what isn't loaded it asks for nothing. */
export const usePullRequestLines = defineStore('pull-request-lines', () => {
  const integrations = useIntegrations()
  const pulls = usePullRequests()
  return {
    lineFacts: (task: Task, workflow: WorkflowDefinition | undefined): PullRequestLineFacts => ({
      awaited: hasTrait(workflow, { name: task.status }, 'awaits_pull_request'),
      known: pulls.of(task.id) ?? null,
      forge: forgeName(integrations.of(task.project_id)?.platform ?? null, task.pull_request?.url ?? ''),
    }),
  }
})
