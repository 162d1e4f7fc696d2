import { computed, ref } from 'vue'
import { stateOf } from '../../model/workflow-shape.ts'
import { useDiffPreferences } from './diff-preferences.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useReviews } from '../../stores/review/reviews.ts'
import type { DiffQuery } from '../../stores/review/task-details.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { attemptBefore, scopesOf, type DiffScope } from './diff-scope.ts'

/**
 * Returns the base and options of a task's comparison. `looked` is the commit that the user last
 * viewed.
 */
export function useDiffScope(taskId: () => string, looked: () => string | null) {
  const tasks = useTasks()
  const projects = useProjects()
  const reviews = useReviews()
  const preferences = useDiffPreferences()
  const chosen = ref<DiffScope>('branch')
  /** The commit to show alone. */
  const commit = ref<string | null>(null)
  const task = computed(() => tasks.byId.get(taskId()))
  const attempt = computed(() => {
    const { project_id = '', status = '' } = task.value ?? {}
    return attemptBefore(reviews.byTask(taskId()), stateOf(projects.workflow(project_id), status)?.kind === 'gate')
  })
  const scopes = computed(() => scopesOf(attempt.value, looked() !== null))
  /** The chosen scope, or the default if it is no longer available. */
  const scope = computed<DiffScope>({
    get: () => {
      if (commit.value !== null) return 'commit'
      return scopes.value.some(({ id }) => id === chosen.value) ? chosen.value : 'branch'
    },
    set: (next) => {
      commit.value = null
      chosen.value = next
    },
  })
  const base = computed(() => {
    const repos = projects.byId.get(task.value?.project_id ?? '')?.repos
    return repos?.find(({ id }) => id === task.value?.repo_id)?.default_branch ?? null
  })
  /** Whether the whole branch is read as chapters. */
  const isByChapter = computed(() => preferences.reading === 'chapters' && scope.value === 'branch')
  const wishes = computed<DiffQuery>(() => ({
    scope: scope.value === 'uncommitted' ? 'uncommitted' : 'branch',
    ...(scope.value === 'attempt' && attempt.value !== null && { since_attempt: attempt.value }),
    ...(scope.value === 'looked' && { since_commit: looked() ?? undefined }),
    ...(commit.value !== null && { commit: commit.value }),
    // Chapters fold what only differs in whitespace, if nothing depends on it.
    ...(!preferences.whitespace && !isByChapter.value && { ignore_whitespace: true }),
  }))
  return { scope, scopes, wishes, commit, base, isByChapter }
}
