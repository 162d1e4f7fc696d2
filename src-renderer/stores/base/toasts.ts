import { toast } from 'vue-sonner'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import { errorSentence } from '../../formatters/error-sentence.ts'
import { useNavigation } from './navigation.ts'

export interface ToastAction {
  readonly label: string
  readonly run: () => void
  /** Called when the toast closes without the action. */
  readonly left?: () => void
}

/** Returns a link to the changes if the refusal says that the reviewed work has changed or isn't ready. */
function changesAction(error: unknown): ToastAction | undefined {
  if (!(error instanceof ApiError) || (error.code !== 'work_changed' && error.code !== 'review_not_ready')) return
  const taskId = error.details?.['task_id']
  if (typeof taskId !== 'string') return
  const navigation = useNavigation()
  return { label: 'Look at the changes', run: () => navigation.openTask(taskId, 'changes') }
}

/** The fields of a task that a toast needs. */
export interface TaskOfToast {
  readonly id: string
  readonly title: string
  readonly project_id: string
}

/** Shortens a title to fit into a toast. */
const cut = (title: string): string => (title.length > 48 ? `${title.slice(0, 47).trimEnd()}…` : title)

/** Short messages that close after a timeout. Refusals stay longer. */
export function useToasts() {
  const options = (duration: number, action?: ToastAction) => {
    if (!action) return { duration }
    let taken = false
    const onClick = () => {
      taken = true
      action.run()
    }
    const leave = () => {
      if (!taken) action.left?.()
      taken = true
    }
    return { duration, action: { label: action.label, onClick }, onDismiss: leave, onAutoClose: leave }
  }
  /** Shows a refusal. `context` says which change did not happen: `“Fix login” stays in To do.` */
  const refused = (error: unknown, context = '', action?: ToastAction) =>
    void toast.error(
      [context, errorSentence(error)].filter((part) => part !== '').join(' '),
      options(10_000, changesAction(error) ?? action),
    )

  const isOpen = (task: TaskOfToast): boolean => useNavigation().taskId === task.id
  /** Returns the action that opens the task; undefined if it is open already. */
  const opening = (task: TaskOfToast): ToastAction | undefined => {
    if (isOpen(task)) return undefined
    const navigation = useNavigation()
    const beside = navigation.route.screen === 'all'
    const { project_id: projectId, id: taskId } = task
    const board = beside ? ({ screen: 'all' } as const) : ({ screen: 'board', projectId } as const)
    return { label: 'Open', run: () => navigation.go({ ...board, taskId, tab: null }) }
  }
  /** Shows a refusal about a task. Names the task unless it is open. */
  const refusedOn = (task: TaskOfToast, error: unknown, what: string, action?: ToastAction) =>
    refused(error, isOpen(task) ? `${what}.` : `${what}: ${cut(task.title)}.`, action ?? opening(task))

  return {
    opening,
    refusedOn,
    /** Shows a success about a task, unless it is open, because then the screen shows it. */
    doneOn: (task: TaskOfToast, what: string) => {
      if (!isOpen(task)) void toast.success(`${what}: ${cut(task.title)}`, options(4_000, opening(task)))
    },
    /** Runs `work` and shows a failure with the task's title. Returns whether it succeeded. */
    async attemptOn(
      task: TaskOfToast,
      what: string,
      work: () => Promise<unknown>,
      /** Returns the toast's action for a refusal. */
      wayOn?: (error: unknown) => ToastAction | undefined,
    ): Promise<boolean> {
      try {
        await work()
        return true
      } catch (error) {
        refusedOn(task, error, what, wayOn?.(error))
        return false
      }
    },
    done: (message: string, action?: ToastAction) => void toast.success(message, options(4_000, action)),
    refused,
    /** Runs `work` and shows a failure after `context`. Returns whether it succeeded. */
    async attempt(context: string, work: () => Promise<unknown>): Promise<boolean> {
      try {
        await work()
        return true
      } catch (error) {
        refused(error, context)
        return false
      }
    },
    warn: (message: string, action?: ToastAction) => void toast.warning(message, options(10_000, action)),
  }
}
