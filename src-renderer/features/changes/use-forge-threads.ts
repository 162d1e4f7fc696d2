import { computed, type ComputedRef, type Ref } from 'vue'
import type { PullRequestCan } from '../../../src-shared/contract/pull-requests.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import type { DiffAnnotation } from '../../components/diff/diff-notes.ts'
import { useQuery } from '../../stores/base/query.ts'
import { useLive } from '../../stores/live.ts'
import { useLoadedPullRequest } from '../../stores/review/pull-request-facts.ts'
import { useTaskDetails } from '../../stores/review/task-details.ts'
import { useThreadAnswers, type ThreadAnswers } from '../../stores/review/thread-answers.ts'
import type { DiffScope } from './diff-scope.ts'
import { placeThreads, readChangesSince, type PlacedThread, type PlacedThreads } from './place-threads.ts'

/** The threads of a task's pull request in its diff. */
export interface ForgeThreads {
  readonly notes: ComputedRef<readonly DiffAnnotation[]>
  /** Open threads on files without lines in the diff. */
  readonly unplaced: ComputedRef<readonly PlacedThread[]>
  /** The number of open threads by path. */
  readonly counts: ComputedRef<ReadonlyMap<string, number>>
  /** The keys of the notes with an open thread. */
  readonly openKeys: ComputedRef<readonly string[]>
  /** Returns the thread of a note. */
  readonly threadOf: (key: string) => PlacedThread | undefined
  readonly answers: ThreadAnswers
  /** The name of the forge. */
  readonly forge: ComputedRef<string>
  readonly can: ComputedRef<PullRequestCan | null>
  /** Why nothing can be sent now; null if it can. */
  readonly refusal: ComputedRef<string | null>
}

/** The diff that is shown. */
export interface ShownDiff {
  readonly task: Readonly<Ref<Task | null>>
  readonly diff: Readonly<Ref<Diff | null>>
  readonly files: Readonly<Ref<readonly DiffFile[]>>
  readonly scope: Readonly<Ref<DiffScope>>
}

const none: PlacedThreads = { notes: [], byKey: new Map(), unplaced: [], counts: new Map() }

/** Returns the threads of a task's pull request, at their lines in the shown diff. */
export function useForgeThreads(shown: ShownDiff): ForgeThreads {
  const { diff, files, scope } = shown
  const task = () => shown.task.value
  const details = useTaskDetails()
  const live = useLive()
  const { pull, integration, facts } = useLoadedPullRequest(task)
  const threads = computed(() => (pull.value?.threads ?? []).filter(({ path }) => path !== null))
  /** The threads are at lines of the commit there; the work here may have newer ones. */
  const since = useQuery(
    async () => {
      const commit = pull.value?.head ?? ''
      const changes = await details.diff(task()?.id ?? '', { scope: 'branch', since_commit: commit })
      return { commit, changes: changes && readChangesSince(changes, commit) }
    },
    () => {
      const tree = diff.value?.tree
      return threads.value.length === 0 || tree == null
        ? null
        : ['changes since', task()?.id, pull.value?.head, diff.value?.head, tree]
    },
  )
  const placed = computed<PlacedThreads>((before = none) => {
    const known = since.data.value?.commit === pull.value?.head ? since.data.value : null
    if (threads.value.length === 0 || (known === null && since.error.value === null)) return none
    const next = placeThreads(threads.value, files.value, known?.changes ?? null, scope.value === 'branch')
    // The same array while the notes are equal, so that the diff isn't drawn for nothing.
    return JSON.stringify(before.notes) === JSON.stringify(next.notes) ? { ...next, notes: before.notes } : next
  })
  return {
    notes: computed(() => placed.value.notes),
    unplaced: computed(() => placed.value.unplaced),
    counts: computed(() => placed.value.counts),
    openKeys: computed(() => [...placed.value.byKey].flatMap(([key, { thread }]) => (thread.resolved ? [] : [key]))),
    threadOf: (key) => placed.value.byKey.get(key),
    answers: useThreadAnswers(task),
    forge: computed(() => facts.value.forge),
    can: computed(() => integration.value?.can ?? null),
    refusal: computed(() => live.refusal ?? facts.value.off),
  }
}
