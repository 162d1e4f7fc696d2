import { computed, onScopeDispose, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import type { PluginInfo } from '../../../src-shared/contract/lifecycle-hooks.ts'
import { useQuery, type Query } from '../../stores/base/query.ts'
import { draftOf, hooksOf, sameDraft, type HookDraft, type HooksDraft } from '../../model/hook-draft.ts'
import { useHookDrafts } from '../../stores/project/hook-drafts.ts'
import { useHooks } from '../../stores/project/hooks.ts'
import { useNavigation } from '../../stores/base/navigation.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useToasts } from '../../stores/base/toasts.ts'
import { errorSentence } from '../../formatters/error-sentence.ts'
import { problemsOf, refusedHooks, type HookProblem } from './hook-problems.ts'
import { useHookEdits, type HookEdits } from './use-hook-edits.ts'

/** An error of the service about a hook, valid while the hook is unchanged. */
interface RefusedHook extends HookProblem {
  readonly draftText: string
}

/** The hooks of a project while they are edited. */
export interface HooksEditor extends HookEdits {
  /** null until the hooks are loaded. */
  readonly draft: ShallowRef<HooksDraft | null>
  readonly plugins: Query<readonly PluginInfo[]>['data']
  readonly pluginsFailure: Query<readonly PluginInfo[]>['error']
  readonly reloadPlugins: () => Promise<void>
  readonly changed: ComputedRef<boolean>
  /** Whether the draft is from an earlier visit. */
  readonly restored: Readonly<Ref<boolean>>
  readonly loadFailure: Readonly<Ref<unknown>>
  /** Whether another person saved hooks since this draft began. */
  readonly overtaken: ComputedRef<boolean>
  /** Discards the draft and begins with the saved hooks. */
  readonly begin: () => void
  readonly busy: Readonly<Ref<boolean>>
  readonly failure: Readonly<Ref<string | null>>
  readonly problems: ComputedRef<readonly HookProblem[]>
  readonly save: () => Promise<void>
}

/** Returns the hooks of a project with the unsaved draft, which is kept when the page is left. */
export function useHooksEditor(projectId: string): HooksEditor {
  const projects = useProjects()
  const drafts = useHookDrafts()
  const hooks = useHooks()
  const saved = computed(() => projects.settings(projectId)?.lifecycle_hooks ?? null)
  const savedText = computed(() => JSON.stringify(saved.value))
  const plugins = useQuery(hooks.plugins)
  const draft = shallowRef<HooksDraft | null>(null)
  const base = ref('')
  const restored = ref(false)
  const changed = computed(
    () => draft.value !== null && saved.value !== null && !sameDraft(draft.value, draftOf(saved.value)),
  )

  function begin(): void {
    drafts.forget(projectId)
    restored.value = false
    base.value = savedText.value
    draft.value = saved.value && draftOf(saved.value)
  }
  // Show what another person saved while there is no draft. An equal value is ignored because it
  // would only take the focus.
  watch(
    saved,
    (now, before) => {
      if (now === null || (draft.value !== null && JSON.stringify(now) === base.value)) return
      const kept = draft.value === null ? drafts.get(projectId) : null
      if (kept) {
        draft.value = kept.draft
        base.value = kept.base
        restored.value = changed.value
      } else if (draft.value === null || before == null || sameDraft(draft.value, draftOf(before))) begin()
    },
    { immediate: true },
  )
  watch([draft, changed], ([now, differs]) => {
    if (now === null) return
    if (differs) drafts.keep(projectId, { draft: now, base: base.value })
    else drafts.forget(projectId)
  })
  const failure = useFirstLoad(projectId)
  void plugins.reload()
  warnWhenLeft(changed)

  return {
    draft,
    plugins: plugins.data,
    pluginsFailure: plugins.error,
    reloadPlugins: plugins.reload,
    changed,
    restored,
    loadFailure: failure,
    overtaken: computed(() => changed.value && base.value !== savedText.value),
    begin,
    ...useHookEdits(draft),
    ...useSaving(projectId, draft, () => plugins.data.value, begin),
  }
}

function useFirstLoad(projectId: string) {
  const projects = useProjects()
  const failure = shallowRef<unknown>(null)
  if (!projects.settings(projectId)) projects.loadSettings(projectId).catch((error: unknown) => (failure.value = error))
  return failure
}

function useSaving(
  projectId: string,
  draft: { readonly value: HooksDraft | null },
  plugins: () => Parameters<typeof problemsOf>[1],
  begin: () => void,
) {
  const projects = useProjects()
  const toasts = useToasts()
  const busy = ref(false)
  const failure = ref<string | null>(null)
  const refused = shallowRef<readonly RefusedHook[]>([])
  const hookText = (key: string) => JSON.stringify(everyHook(draft.value).find((hook) => hook.key === key))
  const problems = computed<readonly HookProblem[]>(() => {
    if (draft.value === null) return []
    const own = problemsOf(draft.value, plugins())
    const theirs = refused.value.filter(({ key, draftText }) => draftText === hookText(key))
    return [...own, ...theirs]
  })

  async function save(): Promise<void> {
    const sent = draft.value
    if (sent === null || busy.value || problems.value.length > 0) return
    busy.value = true
    failure.value = null
    try {
      await projects.updateSettings({ project_id: projectId, lifecycle_hooks: hooksOf(sent) })
      // Keep input typed while saving.
      if (draft.value === sent) begin()
      toasts.done('Hooks saved')
    } catch (error) {
      const errors = refusedHooks(error, sent)
      refused.value = (errors?.problems ?? []).map((problem) => ({ ...problem, draftText: hookText(problem.key) }))
      const rest = errors ? errors.rest.join(' ') : errorSentence(error)
      failure.value = rest === '' ? null : rest
    } finally {
      busy.value = false
    }
  }
  return { busy, failure, problems, save }
}

function everyHook(draft: HooksDraft | null): readonly HookDraft[] {
  return draft === null ? [] : Object.values(draft).flat()
}

/** Warns a person who leaves the page with unsaved changes; the draft is kept. */
function warnWhenLeft(changed: { readonly value: boolean }): void {
  const navigation = useNavigation()
  const toasts = useToasts()
  const { projectId } = navigation
  onScopeDispose(() => {
    if (!changed.value) return
    toasts.warn('Your hook changes aren’t saved yet.', {
      label: 'Review them',
      run: () => {
        if (projectId !== null) navigation.go({ screen: 'project_settings', projectId, section: 'hooks' })
      },
    })
  })
}
