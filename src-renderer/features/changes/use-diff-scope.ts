import { computed, ref } from 'vue'
import { stateOf } from '../../model/workflow-shape.ts'
import { useDiffPreferences } from '../../stores/diff-preferences.ts'
import { useProjects } from '../../stores/projects.ts'
import { useReviews } from '../../stores/reviews.ts'
import type { DiffQuery } from '../../stores/task-details.ts'
import { useTasks } from '../../stores/tasks.ts'
import { attemptBefore, scopesOf, type DiffScope } from './diff-scope.ts'

/** What the changes of a task are compared with, and how. */
export function useDiffScope(taskId: () => string) {
  const tasks = useTasks()
  const projects = useProjects()
  const reviews = useReviews()
  const preferences = useDiffPreferences()
  const chosen = ref<DiffScope>('branch')
  const attempt = computed(() => {
    const { project_id = '', status = '' } = tasks.byId.get(taskId()) ?? {}
    return attemptBefore(reviews.byTask(taskId()), stateOf(projects.workflow(project_id), status)?.kind === 'gate')
  })
  const scopes = computed(() => scopesOf(attempt.value))
  /** A choice that is gone is none. */
  const scope = computed({
    get: () => (scopes.value.some(({ id }) => id === chosen.value) ? chosen.value : 'branch'),
    set: (next) => (chosen.value = next),
  })
  const wishes = computed<DiffQuery>(() => ({
    scope: scope.value === 'uncommitted' ? 'uncommitted' : 'branch',
    ...(scope.value === 'attempt' && attempt.value !== null && { since_attempt: attempt.value }),
    ...(!preferences.whitespace && { ignore_whitespace: true }),
  }))
  return { scope, scopes, wishes }
}
