import { until, useTimestamp } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, ref, shallowReactive, watch } from 'vue'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { count } from '../../formatters/format-amounts.ts'
import type { DecisionAction, DecisionId, DecisionTab } from '../../model/decision-action.ts'
import { decide } from '../../model/decision.ts'
import { shortCommit } from '../../model/decision-after-merge.ts'
import { coderRole, hasTrait, stateOf } from '../../model/workflow-shape.ts'
import { useBranchUpdates } from './branch-updates.ts'
import { useComments } from './comments.ts'
import { useExecutions } from '../runs/executions.ts'
import { useLanding } from './landing.ts'
import { useLive } from '../live.ts'
import { useNavigation } from '../base/navigation.ts'
import { usePeople } from '../people/people.ts'
import { useProjects } from '../project/projects.ts'
import { useQuery, useTaskInvalidation } from '../base/query.ts'
import { usePullRequestDeeds } from './pull-request-deeds.ts'
import { useLoadedPullRequest } from './pull-request-facts.ts'
import { useReviews } from './reviews.ts'
import { useSession } from '../base/session.ts'
import { useMovesKey } from './task-details.ts'
import { useTasks } from '../tasks/tasks.ts'
import { undoableMs, useToasts } from '../base/toasts.ts'

/** Dialogs that a decision opens before it is carried out. */
export interface DecisionQuestions {
  /** Opens the sheet that requests changes; `to`: the state that the task goes back to, if it does. */
  requestChanges(task: Task, to: string | null): void
  /** Asks whether to merge although something is left undone. Resolves to the answer. */
  mergeWith(task: Task, leaves: string): Promise<boolean>
  /** Asks for the state to move the task to. */
  move(task: Task): void
}

/** Returns the pending decision about a task, the same wherever it is shown; null for no task. */
export function useDecision(taskId: () => string | null) {
  const tasks = useTasks()
  const projects = useProjects()
  const comments = useComments()
  const executions = useExecutions()
  const people = usePeople()
  const reviews = useReviews()
  const live = useLive()
  const session = useSession()
  const news = useTaskInvalidation()
  const updates = useBranchUpdates()
  const movesKey = useMovesKey()

  const task = computed(() => tasks.byId.get(taskId() ?? '') ?? null)
  const workflow = computed(() => (task.value ? projects.workflow(task.value.project_id) : undefined))
  const state = computed(() => (task.value ? stateOf(workflow.value, task.value.status) : undefined))
  const branch = computed(() => (task.value ? projects.landsOn(task.value) : 'the base branch'))
  const isAtGate = computed(() => state.value?.kind === 'gate')
  const mayMerge = computed(() => {
    if (task.value?.error_annotation?.type === 'merge_conflict') return true
    const next = isAtGate.value ? stateOf(workflow.value, state.value?.transitions[0]?.to ?? '') : undefined
    return next !== undefined && hasTrait(workflow.value, next, 'merges')
  })
  const known = useQuery(
    async () => (task.value && !reviews.isKnown(task.value.id) ? reviews.load(task.value.id) : undefined),
    () => (task.value && isAtGate.value ? ['reviews of', task.value.id] : null),
  )
  // A merge asks about comments that are open, also from the board.
  const said = useQuery(
    async () => void (task.value && (await comments.load(task.value.id))),
    () => (task.value && mayMerge.value ? ['comments of', task.value.id] : null),
  )
  const moves = useQuery(
    async () => (task.value ? tasks.moves(task.value.id) : []),
    () => (task.value && isAtGate.value ? ['moves', ...movesKey(task.value.id)] : null),
  )
  const found = useQuery(
    async () => (task.value && mayMerge.value ? updates.conflicts(task.value.id) : null),
    () => {
      const { value } = task
      if (value === null || !mayMerge.value) return null
      const told = JSON.stringify(value.base_conflict)
      return ['conflicts', value.id, value.status, value.version, told, news.changesOf(value.id, 'workspace')]
    },
  )
  // Without a branch they are unknown; another part of the page shows the reason.
  const conflictFiles = computed(() => {
    const now = found.error.value ? undefined : found.data.value?.files
    return now ?? task.value?.base_conflict?.files ?? null
  })
  const worker = computed(() => {
    const id = task.value?.active_execution_id
    if (!id) return null
    const execution = executions.byId.get(id)
    return execution
      ? { name: people.worker(execution).name, queued: execution.status === 'queued' }
      : { name: 'the agent', queued: false }
  })
  const coder = computed(() => {
    const role = workflow.value ? coderRole(workflow.value) : null
    const holder = role === null ? undefined : task.value?.roles[role]
    if (!holder) return { refusal: 'No agent works on this task' }
    return holder.type === 'agent'
      ? { name: people.face(holder).name }
      : { refusal: 'A person works on this task, not an agent' }
  })
  watch(
    () => task.value?.active_execution_id ?? null,
    (id) => {
      if (id !== null && isAtGate.value) void executions.ensure(id).catch(() => undefined)
    },
    { immediate: true },
  )
  const pullRequest = useLoadedPullRequest(
    () => task.value,
    () => state.value !== undefined && hasTrait(workflow.value, state.value, 'awaits_pull_request'),
  )
  const now = useTimestamp({ interval: 5_000 })
  const undoable = computed(() => {
    const { merged = null } = task.value ?? {}
    return merged !== null && Date.parse(merged.undo_until) > now.value
  })
  const decision = computed(() => {
    if (task.value === null || !workflow.value) return null
    // The newest attempt's verdict determines the steps of an advance, so the reviews must be loaded.
    if (isAtGate.value && !reviews.isKnown(task.value.id)) return null
    return decide({
      task: task.value,
      workflow: workflow.value,
      reviews: reviews.byTask(task.value.id),
      moves: moves.data.value ?? [],
      branch: branch.value,
      base: projects.baseOf(task.value),
      conflicts: conflictFiles.value,
      drafts: comments.drafts(task.value.id).length,
      unresolved: comments.threads(task.value.id).filter(({ resolved }) => !resolved).length,
      worker: worker.value,
      coder: coder.value,
      undoable: undoable.value,
      changeRefusal: live.refusal,
      pullRequest: pullRequest.facts.value,
      nameOf: (by) => people.actor(by).name,
      isMine: (by) => by === `user:${session.me?.handle ?? 'local'}`,
    })
  })
  const asking = computed(
    () =>
      (isAtGate.value && task.value !== null && !reviews.isKnown(task.value.id) && known.error.value === null) ||
      (mayMerge.value && (found.loading.value || said.loading.value)),
  )

  return {
    task,
    workflow,
    state,
    branch,
    /** The number of conflicting files; null while it is unknown. */
    conflicts: computed(() => conflictFiles.value?.length ?? null),
    decision,
    /** The error that prevented the loading of the decision. */
    failure: known.error,
    reload: known.reload,
    /** Resolves once all data that the decision depends on is loaded, or after 10 seconds. */
    settled: async (): Promise<void> => void (await until(asking).toBe(false, { timeout: 10_000 })),
  }
}

export type DecisionInHand = ReturnType<typeof useDecision>

/** Carries out the user's decisions, one at a time per task. A toast shows refusals. */
export const useDecisionDeeds = defineStore('decision-deeds', () => {
  const tasks = useTasks()
  const projects = useProjects()
  const executions = useExecutions()
  const pulls = usePullRequestDeeds()
  const updates = useBranchUpdates()
  const navigation = useNavigation()
  const toasts = useToasts()
  const actionByTask = shallowReactive(new Map<string, DecisionId>())
  /** The task whose merge the toast offers to undo. */
  const lastMerged = ref<string | null>(null)

  async function advance(task: Task, deed: Extract<DecisionAction['deed'], { kind: 'advance' }>) {
    if (deed.steps.includes('verdict')) await tasks.verdict(task.id, { verdict: 'pass' })
    // The verdict may already have moved the task, if the workflow cascades.
    const isUnmoved = tasks.byId.get(task.id)?.status === task.status
    if (deed.steps.includes('transition') && isUnmoved)
      await (deed.merges ? merge(task, deed.to) : tasks.transition(task.id, deed.to))
    const now = stateOf(projects.workflow(task.project_id), tasks.byId.get(task.id)?.status ?? '')
    if (!deed.merges || now?.kind !== 'terminal') return
    const { merged = null } = tasks.byId.get(task.id) ?? {}
    if (merged !== null) showMerged(task, shortCommit(merged))
    else if (task.review_summary?.empty) toasts.doneOn(task, 'Closed without changes')
    else toasts.doneOn(task, `Merged into ${projects.landsOn(task)}`)
  }
  /** Shows what was merged, with Undo, whose key works wherever the user is as long as it is shown. */
  function showMerged(task: Task, commit: string): void {
    lastMerged.value = task.id
    toasts.undoable(task, `Merged ${task.ref} as ${commit}`, () => void undoMerge(task.id))
    setTimeout(() => {
      if (lastMerged.value === task.id) lastMerged.value = null
    }, undoableMs)
  }
  /** Undoes the merge of a task. Returns whether it succeeded. */
  async function undoMerge(taskId: string): Promise<boolean> {
    const task = tasks.byId.get(taskId)
    if (!task || actionByTask.has(taskId)) return false
    actionByTask.set(taskId, 'unmerge')
    try {
      return await toasts.attemptOn(
        task,
        failures.unmerge,
        () => unmerge(task),
        (error) => instead(task, error),
      )
    } finally {
      actionByTask.delete(taskId)
    }
  }
  async function revert(task: Task): Promise<void> {
    const made = await tasks.revert(task.id)
    toasts.done(`${made.ref} reverts ${task.ref}`, { label: 'Open', run: () => navigation.openTask(made.id) })
  }
  /** Offers to revert what can no longer be undone. */
  function instead(task: Task, error: unknown) {
    if (!(error instanceof ApiError) || error.code !== 'unmerge_too_late') return undefined
    if (error.details?.['reason'] === 'undone' || error.details?.['reason'] === 'none') return undefined
    return { label: 'Revert', run: () => void toasts.attemptOn(task, failures.revert, () => revert(task)) }
  }
  async function unmerge(task: Task): Promise<void> {
    if (lastMerged.value === task.id) lastMerged.value = null
    await tasks.unmerge(task.id)
    toasts.doneOn(task, `Undid the merge of ${task.ref}`)
  }
  async function merge(task: Task, to: string, onRed = false): Promise<void> {
    await tasks.merge(task.id, to, onRed)
    const place = useLanding().placeOf(task)
    if (place?.state === 'testing') toasts.doneOn(task, `Testing the merge into ${projects.landsOn(task)}`)
  }
  async function resolve(task: Task, by: 'agent' | 'editor') {
    const { outcome, files } = await updates.update(task.id, 'merge', by)
    const all = count(files.length, 'file')
    if (outcome === 'agent')
      toasts.done(`The agent resolves the conflict in ${all}.`, {
        label: 'Open Agent',
        run: () => see(task, 'agent'),
      })
    else if (outcome === 'editor')
      toasts.done(`The merge is started in the worktree. Resolve ${all} there.`, {
        label: 'Open Workspace',
        run: () => see(task, 'workspace'),
      })
    else toasts.done(`The branch has all of ${projects.landsOn(task)} now.`)
  }
  function see(task: Task, tab: DecisionTab | 'agent' | 'workspace'): void {
    if (navigation.route.screen === 'all') navigation.openTask(task.id, tab)
    else navigation.go({ screen: 'board', projectId: task.project_id, taskId: task.id, tab })
  }
  async function perform(task: Task, { deed }: DecisionAction): Promise<void> {
    switch (deed.kind) {
      case 'advance':
        return advance(task, deed)
      case 'approve':
        await tasks.verdict(task.id, { verdict: 'pass' })
        return
      // Its sheet sends it.
      case 'reject':
        return
      case 'update':
        return resolve(task, deed.by)
      case 'recover':
        await tasks.recover(task.id, deed.action)
        return
      case 'pull_request':
        return pulls.carryOut(task, deed.act)
      case 'stop':
        return task.active_execution_id === null ? undefined : executions.stop(task.active_execution_id)
      case 'unmerge':
        return unmerge(task)
      case 'revert':
        return revert(task)
      case 'see':
        return see(task, deed.tab)
      case 'move':
        return
    }
  }
  const failures: Readonly<Record<DecisionId, string>> = {
    merge: 'Merge failed',
    approve: 'Approval failed',
    request_changes: 'Couldn’t request changes',
    resolve: 'The agent couldn’t start on the conflict',
    resolve_editor: 'Couldn’t begin the merge',
    retry: 'Retry failed',
    see: 'Couldn’t open it',
    move: 'Couldn’t move it',
    stop: 'Couldn’t stop the agent',
    unmerge: 'Couldn’t undo the merge',
    revert: 'Couldn’t revert it',
    open_pull: 'Couldn’t open the pull request',
    ready_pull: 'Couldn’t mark it as ready',
    merge_pull: 'Merge failed',
    merge_pull_later: 'Couldn’t arrange the merge',
    reopen_pull: 'Couldn’t reopen it',
    await_pull: 'Couldn’t open it',
  }
  /** Offers to merge despite a red base, for example to fix it. */
  function anyway(task: Task, { deed }: DecisionAction, error: unknown) {
    if (!(error instanceof ApiError) || error.code !== 'base_red' || deed.kind !== 'advance') return undefined
    const run = () => void toasts.attemptOn(task, failures.merge, () => merge(task, deed.to, true))
    return { label: 'Merge anyway', run }
  }
  return {
    /** The task that was merged just now, while its toast can be undone; null without one. */
    lastMerged,
    undoMerge,
    /** Returns the running decision of the task. */
    busyWith: (taskId: string): DecisionId | null => actionByTask.get(taskId) ?? null,
    /** Carries out a decision. Returns whether it succeeded. */
    async perform(task: Task, action: DecisionAction): Promise<boolean> {
      if (actionByTask.has(task.id) || action.refused !== null) return false
      actionByTask.set(task.id, action.id)
      try {
        return await toasts.attemptOn(
          task,
          failures[action.id],
          () => perform(task, action),
          (error) => anyway(task, action, error) ?? instead(task, error),
        )
      } finally {
        actionByTask.delete(task.id)
      }
    },
  }
})

/**
 * Returns a function that carries out an action or opens the dialog it needs. Resolves to whether
 * it was carried out.
 */
export function useDecisionChoice(hand: DecisionInHand, questions: DecisionQuestions) {
  const deeds = useDecisionDeeds()
  return (action: DecisionAction): Promise<boolean> => {
    const { value: task } = hand.task
    if (task === null || action.refused !== null) return Promise.resolve(false)
    if (action.leaves !== undefined)
      return questions.mergeWith(task, action.leaves).then((yes) => yes && deeds.perform(task, action))
    if (action.deed.kind === 'reject') questions.requestChanges(task, action.deed.to)
    else if (action.deed.kind === 'move') questions.move(task)
    else return deeds.perform(task, action)
    return Promise.resolve(false)
  }
}
