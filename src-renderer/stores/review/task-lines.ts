import { defineStore } from 'pinia'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { taskLine, type TaskLine } from '../../model/task-line.ts'
import { stateOf } from '../../model/workflow-shape.ts'
import { useSession } from '../base/session.ts'
import { usePullRequestLines } from './pull-request-lines.ts'
import { usePeople } from '../people/people.ts'
import { useProjects } from '../project/projects.ts'
import { useExecutions } from '../runs/executions.ts'

/** The one thing that each task waits for, from all that is known of it here. */
export const useTaskLines = defineStore('task-lines', () => {
  const executions = useExecutions()
  const people = usePeople()
  const projects = useProjects()
  const pulls = usePullRequestLines()
  const session = useSession()

  /** Returns the names of approvers with the user first. */
  function approvers({ review_summary }: Task): readonly string[] {
    const by = review_summary?.approved_by ?? []
    const isMine = (one: string) => one === `user:${session.me?.handle ?? 'local'}`
    return [
      ...by.filter(isMine).map(() => 'You'),
      ...by.filter((one) => !isMine(one)).map((one) => people.actor(one).name),
    ]
  }
  return {
    /** Returns what blocks a task or what it waits for; null if neither. */
    of: (task: Task): TaskLine | null =>
      taskLine({
        task,
        state: stateOf(projects.workflow(task.project_id), task.status),
        base: projects.baseOf(task),
        asks: executions.byId.get(task.active_execution_id ?? '')?.asks?.[0]?.text ?? null,
        approvers: () => approvers(task),
        pullRequest: pulls.lineFacts(task, projects.workflow(task.project_id)),
      }),
  }
})
