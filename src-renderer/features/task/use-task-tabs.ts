import { computed, ref, watch, type ComputedRef, type WritableComputedRef } from 'vue'
import type { GlyphName } from '../../components/state-glyphs.ts'
import { waitTexts } from '../../model/pull-request-text.ts'
import { hasTrait } from '../../model/workflow-shape.ts'
import { useNavigation } from '../../stores/base/navigation.ts'
import { useLoadedPullRequest } from '../../stores/review/pull-request-facts.ts'
import { useReviews } from '../../stores/review/reviews.ts'
import { useExecutions } from '../../stores/runs/executions.ts'
import { openingTab, tabIds, type TabId } from './panel-keys.ts'
import type { TaskPanelData } from './use-task-panel.ts'

interface TaskTab {
  readonly id: TabId
  readonly label: string
  readonly count?: number | null
  readonly mark?: { readonly glyph: GlyphName; readonly label: string } | null
}

/** Returns the tabs of the panel and the open one, which the address names. */
export function useTaskTabs(
  taskId: () => string,
  { task, workflow, state, glyph }: Pick<TaskPanelData, 'task' | 'workflow' | 'state' | 'glyph'>,
): { readonly tab: WritableComputedRef<string>; readonly tabs: ComputedRef<readonly TaskTab[]> } {
  const navigation = useNavigation()
  const executions = useExecutions()
  const reviews = useReviews()
  const { integration, facts } = useLoadedPullRequest(() => task.value)

  const awaitsForge = computed(
    () => state.value !== undefined && hasTrait(workflow.value, state.value, 'awaits_pull_request'),
  )
  const hasPull = computed(
    () => task.value?.pull_request != null || integration.value?.pull_requests.enabled === true || awaitsForge.value,
  )
  const shown = computed(() => tabIds.filter((id) => id !== 'pull_request' || hasPull.value))
  const tab = computed<string>({
    get: () => shown.value.find((id) => id === navigation.tab) ?? defaultTab.value,
    set: (next) => navigation.openTask(taskId(), next),
  })
  /** The tab for the state in which the task was opened; later changes don't switch it. */
  const defaultTab = ref<TabId>('overview')
  watch(
    () => task.value !== null && workflow.value !== undefined,
    (known) => {
      const work = { merges: glyph.value === 'merging', awaitsForge: awaitsForge.value }
      if (known) defaultTab.value = openingTab(task.value, state.value?.kind, work)
    },
    { immediate: true },
  )
  const askMark = computed(() =>
    executions.byId.get(task.value?.active_execution_id ?? '')?.asks
      ? ({ glyph: 'gate', label: 'The agent is waiting for your answer' } as const)
      : null,
  )
  const hookMark = computed(() =>
    task.value?.error_annotation?.type === 'hook_failed'
      ? ({ glyph: 'failed', label: 'A hook failed' } as const)
      : null,
  )
  const pullMark = computed(() => {
    const { known, forge } = facts.value
    const [first] = known === null ? [] : waitTexts(known, forge)
    return first?.tone === 'fail' ? ({ glyph: 'failed', label: first.text } as const) : null
  })
  const tabs = computed((): readonly TaskTab[] => {
    const about: Readonly<Record<TabId, Omit<TaskTab, 'id'>>> = {
      overview: { label: 'Overview' },
      agent: { label: 'Agent', mark: askMark.value },
      changes: { label: 'Changes', count: task.value?.diff_stat?.files || null },
      review: { label: 'Review', count: reviews.byTask(taskId()).length || null },
      pull_request: { label: 'Pull request', mark: pullMark.value },
      activity: { label: 'Activity' },
      hooks: { label: 'Hooks', mark: hookMark.value },
      workspace: { label: 'Workspace' },
    }
    return shown.value.map((id) => ({ id, ...about[id] }))
  })
  return { tab, tabs }
}
