import { useTimeoutFn } from '@vueuse/core'
import { computed, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { z } from 'zod'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import type { DryRun } from '../../../src-shared/contract/workflow-templates.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useWorkflowEditing, type WorkflowDraft } from './workflow-editing.ts'
import { errorSentence } from '../../formatters/error-sentence.ts'
import { type RawDefinition, readRaw, textOf } from './edit-definition.ts'

/** A rule that the definition breaks, and its path. */
export interface Problem {
  readonly rule: string
  readonly path: string
  readonly message: string
}

const Problems = z.object({ issues: z.array(z.object({ rule: z.string(), path: z.string(), message: z.string() })) })

/** The pause in typing, in milliseconds, before the service validates the text. */
const pauseMs = 300

/** The state and the actions of a workflow's editor. */
export interface WorkflowEditor {
  readonly text: Ref<string>
  /** The last text that could be parsed. */
  readonly raw: Readonly<ShallowRef<RawDefinition | null>>
  readonly problems: Readonly<ShallowRef<readonly Problem[]>>
  /** The dry run of the last valid text. */
  readonly dryRun: Readonly<ShallowRef<DryRun | null>>
  readonly failure: Ref<string | null>
  readonly checking: Readonly<Ref<boolean>>
  readonly saving: Readonly<Ref<boolean>>
  readonly changed: ComputedRef<boolean>
  /** Whether another version was saved during the edit; neither may be lost silently. */
  readonly overtaken: ComputedRef<boolean>
  /** Has the service validate the text. */
  readonly check: () => Promise<void>
  /** The definition as parsed by the contract, for views by kind; null if it is invalid. */
  readonly definition: ComputedRef<WorkflowDefinition | null>
  /** The state names that tasks have. */
  readonly savedNames: ComputedRef<ReadonlySet<string>>
  readonly write: (next: RawDefinition) => void
  /** The saved text that the edit began from. */
  readonly base: ComputedRef<string | null>
  /** Restores an earlier edit. */
  readonly take: (kept: WorkflowDraft) => void
  readonly discard: () => void
  /** Saves the text unless another person has saved a version since; `anyway` overwrites. */
  readonly save: (anyway?: boolean) => Promise<boolean>
}

/** Returns the editor of a project's workflow. The text is the source; all else derives from it. */
export function useWorkflowEditor(projectId: string): WorkflowEditor {
  const projects = useProjects()
  const editing = useWorkflowEditing()
  const savedText = computed(() => {
    const definition = projects.workflow(projectId)
    return definition === undefined ? null : textOf({ ...definition, traits: undefined })
  })
  const draft = editing.draftOf(projectId)
  const text = ref(draft?.text ?? savedText.value ?? '')
  /** The saved text that the edit began from. */
  const base = ref(draft ? draft.base : savedText.value)
  const changed = computed(() => savedText.value !== null && text.value !== savedText.value)
  const saving = ref(false)
  /** Whether another version was saved during the edit; neither may be lost silently. */
  const overtaken = computed(
    () => changed.value && !saving.value && base.value !== null && base.value !== savedText.value,
  )
  /** The last text that could be parsed. */
  const raw = shallowRef<RawDefinition | null>(readRaw(text.value))
  const problems = shallowRef<readonly Problem[]>([])
  const dryRun = shallowRef<DryRun | null>(null)
  const failure = ref<string | null>(null)
  const checking = ref(false)
  let lastAttempt = 0

  async function check(): Promise<void> {
    if (text.value === '') return
    const definition = parseJson(text.value)
    const attempt = ++lastAttempt
    if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) {
      problems.value = [{ rule: 'schema', path: '', message: 'Enter a JSON object.' }]
      return
    }
    checking.value = true
    try {
      const result = await editing.dryRun(projectId, { ...definition })
      if (attempt !== lastAttempt) return
      dryRun.value = result
      problems.value = []
      failure.value = null
    } catch (error) {
      if (attempt !== lastAttempt) return
      problems.value = problemsOf(error)
      failure.value = problems.value.length > 0 ? null : errorSentence(error)
    } finally {
      if (attempt === lastAttempt) checking.value = false
    }
  }
  const { start: checkSoon } = useTimeoutFn(() => void check(), pauseMs, { immediate: false })
  watch(
    text,
    (now) => {
      raw.value = readRaw(now) ?? raw.value
      // Until the saved text is loaded, no difference is known.
      if (savedText.value !== null) {
        if (!changed.value) base.value = savedText.value
        editing.keep(projectId, changed.value ? { text: now, base: base.value } : null)
      }
      checkSoon()
    },
    { immediate: true },
  )
  // Show what another person saved while there is no edit.
  watch(savedText, (now, before) => {
    if (now === null) return
    if (text.value === '' || text.value === before) text.value = now
    if (text.value === now) base.value = now
  })

  /** Reloads the saved version; resolves to whether saving overwrites nothing of another person. */
  async function isMine(anyway: boolean): Promise<boolean> {
    try {
      await projects.loadWorkflow(projectId)
    } catch (error) {
      failure.value = errorSentence(error)
      return false
    }
    if (anyway) base.value = savedText.value
    return !overtaken.value
  }

  if (savedText.value === null)
    projects.loadWorkflow(projectId).catch((error: unknown) => (failure.value = errorSentence(error)))

  return {
    text,
    raw,
    problems,
    dryRun,
    failure,
    checking,
    saving,
    changed,
    overtaken,
    check,
    definition: computed((): WorkflowDefinition | null => {
      const { data } = WorkflowDefinition.safeParse(parseJson(text.value))
      // The service returns the traits of plugins once it has validated the text.
      const traits = dryRun.value?.traits ?? projects.workflow(projectId)?.traits
      return data ? { ...data, traits } : null
    }),
    savedNames: computed(() => new Set(readRaw(savedText.value ?? '')?.states.map((state) => state.name))),
    write: (next: RawDefinition) => void (text.value = textOf(next)),
    base: computed(() => base.value),
    take: (kept: WorkflowDraft): void => {
      base.value = kept.base
      text.value = kept.text
    },
    discard: () => void (text.value = savedText.value ?? ''),
    async save(anyway = false): Promise<boolean> {
      if (!(await isMine(anyway))) return false
      saving.value = true
      try {
        await projects.update({ project_id: projectId, workflow_definition: text.value })
        await projects.loadWorkflow(projectId)
        text.value = savedText.value ?? text.value
        base.value = savedText.value
        failure.value = null
        return true
      } catch (error) {
        problems.value = problemsOf(error)
        failure.value = errorSentence(error)
        return false
      } finally {
        saving.value = false
      }
    },
  }
}

function problemsOf(error: unknown): readonly Problem[] {
  if (!(error instanceof ApiError) || error.code !== 'workflow_invalid') return []
  return Problems.safeParse(error.details).data?.issues ?? [{ rule: 'schema', path: '', message: error.message }]
}

/** Returns the selected state: the first until another is selected, and again if that is removed. */
export function useChosenState(raw: () => RawDefinition | null) {
  const chosen = ref<string | null>(null)
  const chosenIndex = computed(() => {
    const index = raw()?.states.findIndex((state) => state.name === chosen.value)
    return index === -1 ? null : (index ?? null)
  })
  watch(
    [raw, chosenIndex],
    () => {
      if (chosenIndex.value === null) chosen.value = raw()?.states[0]?.name ?? null
    },
    { immediate: true },
  )
  return { chosen, chosenIndex }
}
