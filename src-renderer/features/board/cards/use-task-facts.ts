import { computed } from 'vue'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'
import type { TaskFacts } from '../../../model/board-filter.ts'
import { glyphOfState, isDoneState, type StateGlyphName } from '../../../model/workflow-shape.ts'
import { useExecutions } from '../../../stores/runs/executions.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import { usePullRequestLines } from '../../../stores/review/pull-request-lines.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'
import { taskLine } from '../../../model/task-line.ts'

interface KnownState {
  readonly state: WorkflowState
  readonly glyph: StateGlyphName
}

/** Returns task lookups for the filter, the list and the count of tasks that need the user. */
export function useTaskFacts() {
  const executions = useExecutions()
  const projects = useProjects()
  const pulls = usePullRequestLines()
  const tasks = useTasks()

  // Called for every task, so compute the states once per workflow.
  const known = computed(
    () =>
      new Map(
        projects.items.map(({ id }) => {
          const workflow = projects.workflow(id)
          const states = (workflow?.states ?? []).map((state): readonly [string, KnownState] => [
            state.name,
            { state, glyph: workflow ? glyphOfState(workflow, state) : 'custom' },
          ])
          return [id as string, new Map(states)]
        }),
      ),
  )
  const stateOfTask = (task: Task): KnownState | undefined => known.value.get(task.project_id)?.get(task.status)
  /** Returns the ref of the first unfinished dependency, or null. */
  function waitsFor(task: Task): string | null {
    if (task.dependencies.length === 0 || stateOfTask(task)?.state.kind === 'terminal') return null
    const open = task.dependencies.find((id) => {
      const other = tasks.byId.get(id)
      return other && !isDoneState(projects.workflow(other.project_id), other.status)
    })
    return open ?? null
  }
  function factsOf(task: Task): TaskFacts {
    const running = task.active_execution_id === null ? undefined : executions.byId.get(task.active_execution_id)
    const { state, glyph } = stateOfTask(task) ?? {}
    const asks = running?.asks?.[0]?.text ?? null
    const pullRequest = pulls.lineFacts(task, projects.workflow(task.project_id))
    const line = taskLine({ task, state, base: '', asks, pullRequest })
    const stuck = glyph === 'blocked' || glyph === 'merge-failed'
    return {
      needsYou: line?.needsYou ?? (stuck && task.active_execution_id === null),
      running: running?.status === 'running',
      blocked: glyph === 'blocked' || waitsFor(task) !== null,
    }
  }
  return { stateOfTask, waitsFor, factsOf }
}
