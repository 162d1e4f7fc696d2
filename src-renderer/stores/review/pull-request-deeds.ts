import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { PullRequestAct } from '../../model/decision-action.ts'
import { useToasts } from '../base/toasts.ts'
import { useTasks } from '../tasks/tasks.ts'
import { usePullRequests } from './pull-requests.ts'

type OpenWish = Omit<OperationInput<'pull_requests.open'>, 'task_id'>

/** Carries out what a person does about a pull request, one thing at a time per task. */
export const usePullRequestDeeds = defineStore('pull-request-deeds', () => {
  const pulls = usePullRequests()
  const tasks = useTasks()
  const toasts = useToasts()
  const actByTask = shallowReactive(new Map<string, PullRequestAct | 'sync'>())

  const nameOf = (task: Task): string => {
    const number = pulls.of(task.id)?.number ?? tasks.byId.get(task.id)?.pull_request?.number
    return number === undefined ? 'the pull request' : `#${number}`
  }
  async function open(task: Task, wish: OpenWish = {}): Promise<void> {
    const created = await pulls.open({ task_id: task.id, ...wish })
    toasts.doneOn(task, `${created ? 'Opened' : 'Updated'} ${nameOf(task)}`)
  }
  async function merge(task: Task, when_ready: boolean): Promise<void> {
    await pulls.merge({ task_id: task.id, when_ready })
    const isMerged = pulls.of(task.id)?.state === 'merged'
    toasts.doneOn(task, isMerged ? `Merged ${nameOf(task)}` : `${nameOf(task)} merges once it can`)
  }
  /** A task that was held because of the closing goes on with it. */
  async function reopen(task: Task): Promise<void> {
    if (task.error_annotation?.recovery_actions.includes('reopen_pull_request') === true)
      await tasks.recover(task.id, 'reopen_pull_request')
    else await pulls.reopen(task.id)
    toasts.doneOn(task, `Reopened ${nameOf(task)}`)
  }
  async function close(task: Task): Promise<void> {
    await pulls.close(task.id)
    toasts.doneOn(task, `Closed ${nameOf(task)}`)
  }
  async function carryOut(task: Task, act: PullRequestAct): Promise<void> {
    switch (act) {
      case 'open':
      case 'update':
        return open(task)
      case 'ready':
        return pulls.ready(task.id)
      case 'merge':
        return merge(task, false)
      case 'merge_later':
        return merge(task, true)
      case 'reopen':
        return reopen(task)
      case 'close':
        return close(task)
    }
  }
  /** Runs one piece of work of a task. Returns whether it ran and succeeded. */
  async function alone(
    task: Task,
    what: PullRequestAct | 'sync',
    run: (work: () => Promise<void>) => Promise<boolean>,
    work: () => Promise<void>,
  ): Promise<boolean> {
    if (actByTask.has(task.id)) return false
    actByTask.set(task.id, what)
    try {
      return await run(work)
    } finally {
      actByTask.delete(task.id)
    }
  }
  const withToast = (task: Task, failed: string) => (work: () => Promise<void>) => toasts.attemptOn(task, failed, work)
  return {
    /** Returns what is being done about the task’s pull request. */
    busyWith: (taskId: string): PullRequestAct | 'sync' | null => actByTask.get(taskId) ?? null,
    /** Carries it out; rejects if it is refused. */
    carryOut,
    perform: (task: Task, act: PullRequestAct): Promise<boolean> =>
      alone(task, act, withToast(task, failures[act]), () => carryOut(task, act)),
    /** Opens one, with a failure passed on to `run`. */
    open: (task: Task, wish: OpenWish, run: (work: () => Promise<void>) => Promise<boolean>): Promise<boolean> =>
      alone(task, 'open', run, () => open(task, wish)),
    /** Asks the forge now. */
    check: (task: Task): Promise<boolean> =>
      alone(task, 'sync', withToast(task, 'Couldn’t check the pull request'), () => pulls.sync(task.id)),
  }
})

const failures: Readonly<Record<PullRequestAct, string>> = {
  open: 'Couldn’t open the pull request',
  update: 'Couldn’t update the pull request',
  ready: 'Couldn’t mark it as ready',
  merge: 'Merge failed',
  merge_later: 'Couldn’t arrange the merge',
  reopen: 'Couldn’t reopen it',
  close: 'Couldn’t close it',
}
