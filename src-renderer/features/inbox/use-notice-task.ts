import { computed } from 'vue'
import type { Notification } from '../../../src-shared/contract/notifications.ts'
import type { GlyphName, Tone } from '../../components/state-glyphs.ts'
import { stateOf } from '../../model/workflow-shape.ts'
import { usePeople } from '../../stores/people/people.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useExecutions } from '../../stores/runs/executions.ts'
import { useTaskLines } from '../../stores/review/task-lines.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { noticeSentence, notificationLabels } from './notification-labels.ts'

/** What is said of a notification: of its task as it is now, else of what happened. */
interface NoticeLine {
  readonly glyph: GlyphName
  readonly tone: Tone
  readonly text: string
}

/** Returns the current task of a notification, null if it isn't loaded, and its line. */
export function useNoticeTask(item: () => Pick<Notification, 'task_id' | 'project_id' | 'event_type' | 'body'>) {
  const tasks = useTasks()
  const projects = useProjects()
  const executions = useExecutions()
  const people = usePeople()
  const lines = useTaskLines()
  const task = computed(() => tasks.byId.get(item().task_id) ?? null)
  const state = computed(() => (task.value && stateOf(projects.workflow(item().project_id), task.value.status)) ?? null)
  const isAtGate = computed(() => state.value?.kind === 'gate')
  /** The name of the task's active worker. */
  const worker = computed(() => {
    const run = executions.byId.get(task.value?.active_execution_id ?? '')
    return run && !run.asks && run.status === 'running' ? people.worker(run).name : null
  })
  const line = computed((): NoticeLine => {
    const { glyph, tone } = notificationLabels(item().event_type)
    const now = task.value && state.value?.kind !== 'terminal' ? lines.of(task.value) : null
    if (now) return { glyph: now.glyph ?? glyph, tone: now.tone, text: now.text }
    const text = noticeSentence(item(), isAtGate.value)
    return worker.value === null
      ? { glyph, tone, text }
      : { glyph, tone, text: `${text}. ${worker.value} is working on it` }
  })
  return { task, state, isAtGate, line }
}
