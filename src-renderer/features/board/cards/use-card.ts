import { computed, type ComputedRef } from 'vue'
import type { Execution } from '../../../../src-shared/contract/executions.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'
import type { GlyphName } from '../../../components/state-glyphs.ts'
import type { TaskLine } from '../../../model/task-line.ts'
import { retryBudget, type RetryBudget } from '../../../model/retry-budget.ts'
import { glyphOfState, isDoneState } from '../../../model/workflow-shape.ts'
import { useExecutions } from '../../../stores/runs/executions.ts'
import { useLanding } from '../../../stores/review/landing.ts'
import { useRunners } from '../../../stores/agents/runners.ts'
import { usePeople, type Face } from '../../../stores/people/people.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import { useQueue } from '../../../stores/runs/queue.ts'
import { useSubtasks, type SubtaskCount } from './subtasks.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'
import { useTaskLines } from '../../../stores/review/task-lines.ts'

/** A task that another one refers to. */
type TaskName = Pick<Task, 'ref' | 'title'>

/** The derived data that a card shows. */
export interface CardData {
  /** The active execution. */
  readonly execution: ComputedRef<Execution | undefined>
  readonly condition: ComputedRef<TaskLine | null>
  readonly glyph: ComputedRef<GlyphName>
  /** The current activity and its start; null if nothing runs. */
  readonly live: ComputedRef<{ readonly text: string; readonly since: string | null } | null>
  /** The name of the runner of the run; null on this machine. */
  readonly runner: ComputedRef<string | null>
  /** The time of the agent's last output if it is stalled. */
  readonly quietSince: ComputedRef<string | null>
  /** The position in the queue; null if the task is blocked, because the condition says so. */
  readonly queueText: ComputedRef<string | null>
  /** The first unfinished dependency. */
  readonly waitsFor: ComputedRef<TaskName | null>
  /** A forecast with the refs of tasks whose work would conflict. */
  readonly overlap: ComputedRef<string | null>
  /** The task that this branch is stacked on, until that has merged. */
  readonly onTopOf: ComputedRef<TaskName | null>
  /** `unseen`: checks have passed, but no person has approved. */
  readonly verdict: ComputedRef<'none' | 'waiting' | 'unseen' | 'passed' | 'failed'>
  /** The rejections so far; null before the first. */
  readonly budget: ComputedRef<RetryBudget | null>
  /** The count of subtasks. */
  readonly parts: ComputedRef<SubtaskCount | null>
  readonly faces: ComputedRef<readonly Face[]>
}

/** Returns the derived data that a card shows. */
export function useCard(task: () => Task, state: () => WorkflowState | undefined): CardData {
  const executions = useExecutions()
  const landing = useLanding()
  const tasks = useTasks()
  const people = usePeople()
  const projects = useProjects()
  const queue = useQueue()
  const runners = useRunners()
  const lines = useTaskLines()
  const subtasks = useSubtasks()

  const execution = computed(() => {
    const id = task().active_execution_id
    return id === null ? undefined : executions.byId.get(id)
  })
  const condition = computed(() => lines.of(task()))
  const glyph = computed(() => {
    const workflow = projects.workflow(task().project_id)
    const own = state()
    return workflow && own ? glyphOfState(workflow, own) : 'custom'
  })
  const live = computed(() => {
    const running = execution.value
    if (running?.asks) return null
    if (running?.status === 'running')
      return {
        text:
          executions.activity.get(task().id)?.text ??
          (running.executor === 'person' ? 'Someone is working on it' : 'Starting'),
        since: running.started_at,
      }
    if (task().active_execution_id !== null && !running) return { text: 'Starting', since: null }
    if (glyph.value === 'merging' && condition.value === null) {
      const place = landing.placeOf(task())
      const waits = place?.state === 'waiting' ? 'Waiting to land on' : 'Merging into'
      const text = place?.state === 'testing' ? 'Testing the merge into' : waits
      return { text: `${text} ${projects.landsOn(task())}`, since: place?.started_at ?? null }
    }
    return null
  })
  const queueText = computed(() => {
    if (execution.value?.status !== 'queued' || condition.value !== null) return null
    return queue.waitText(task().id, false)
  })
  const quietSince = computed(() => {
    const running = execution.value
    return running?.status === 'running' ? executions.quietSince(running.task_id, running.id) : null
  })
  const waitsFor = computed(() => {
    const open =
      state()?.kind === 'terminal'
        ? undefined
        : task().dependencies.find((id) => {
            const other = tasks.byId.get(id)
            return other && !isDoneState(projects.workflow(other.project_id), other.status)
          })
    const other = open === undefined ? undefined : tasks.byId.get(open)
    return other ? { ref: other.ref, title: other.title } : null
  })
  const overlap = computed(() => {
    const [first, ...others] = task().overlaps.map((id) => tasks.byId.get(id)?.ref ?? 'another task')
    if (first === undefined) return null
    return `Will clash with ${[first, ...others].slice(0, 2).join(', ')}${others.length > 1 ? ` and ${others.length - 1} more` : ''}`
  })
  const onTopOf = computed(() => {
    const other = tasks.byId.get(task().stacked_on ?? '')
    if (!other || state()?.kind === 'terminal') return null
    const isOver = projects
      .workflow(other.project_id)
      ?.states.some(({ name, kind }) => name === other.status && kind === 'terminal')
    return isOver === true ? null : { ref: other.ref, title: other.title }
  })
  const verdict = computed(() => {
    const review = task().review_summary
    if (!review) return 'none'
    // Passed checks are not the verdict of a person.
    if ((review.approved_by ?? []).length > 0) return 'passed'
    if (review.status === 'passed') return 'unseen'
    return review.status === 'failed' && !review.steps.includes('failed') ? 'failed' : 'waiting'
  })
  return {
    execution,
    condition,
    glyph,
    live,
    quietSince,
    queueText,
    runner: computed(() =>
      execution.value?.status === 'running' ? (runners.elsewhere(execution.value.runner_id)?.name ?? null) : null,
    ),
    waitsFor,
    overlap,
    onTopOf,
    verdict,
    budget: computed(() => {
      const budget = state()?.kind === 'terminal' ? null : retryBudget(task(), projects.workflow(task().project_id))
      return budget && budget.used > 0 ? budget : null
    }),
    parts: computed(() => subtasks.countOf(task().id)),
    faces: computed(() => people.faces(task().roles)),
  }
}
