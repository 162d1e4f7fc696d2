import { toast } from 'vue-sonner'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import { errorSentence } from '../../formatters/error-sentence.ts'
import { useNavigation } from './navigation.ts'

export interface ToastAction {
  readonly label: string
  readonly run: () => void
  /** The message went away and the action was not taken. */
  readonly left?: () => void
}

/** Work that is not what was seen, or judged, is to be looked at. */
function lookAgain(error: unknown): ToastAction | undefined {
  if (!(error instanceof ApiError) || (error.code !== 'work_changed' && error.code !== 'review_not_ready')) return
  const task_id = error.details?.['task_id']
  if (typeof task_id !== 'string') return
  const navigation = useNavigation()
  return { label: 'Look at the changes', run: () => navigation.openTask(task_id, 'changes') }
}

/** What a message tells of a task. */
export interface TaskOfToast {
  readonly id: string
  readonly title: string
  readonly project_id: string
}

/** A title as a message has room for it. */
const cut = (title: string): string => (title.length > 48 ? `${title.slice(0, 47).trimEnd()}…` : title)

/** Short messages that go away by themselves; a refusal stays longer. */
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
  /** `context` says what did not happen: `“Fix login” stays in To do.` */
  const refused = (error: unknown, context = '', action?: ToastAction) =>
    void toast.error(
      [context, errorSentence(error)].filter((part) => part !== '').join(' '),
      options(10_000, lookAgain(error) ?? action),
    )

  const isOpen = (task: TaskOfToast): boolean => useNavigation().taskId === task.id
  /** The way to a task that is not on screen. */
  const opening = (task: TaskOfToast): ToastAction | undefined => {
    if (isOpen(task)) return undefined
    const navigation = useNavigation()
    const beside = navigation.route.screen === 'all'
    const { project_id: projectId, id: taskId } = task
    const board = beside ? ({ screen: 'all' } as const) : ({ screen: 'board', projectId } as const)
    return { label: 'Open', run: () => navigation.go({ ...board, taskId, tab: null }) }
  }
  /** Says what was refused about a task, which is named unless it is the one that is open. */
  const refusedOn = (task: TaskOfToast, error: unknown, what: string, action?: ToastAction) =>
    refused(error, isOpen(task) ? `${what}.` : `${what}: ${cut(task.title)}.`, action ?? opening(task))

  return {
    opening,
    refusedOn,
    /** Says what was done with a task, unless it is open: the screen shows it then. */
    doneOn: (task: TaskOfToast, what: string) => {
      if (!isOpen(task)) void toast.success(`${what}: ${cut(task.title)}`, options(4_000, opening(task)))
    },
    /** Does it, and says what of which task went wrong. Answers whether it went well. */
    async attemptOn(
      task: TaskOfToast,
      what: string,
      work: () => Promise<unknown>,
      /** The way on from what was refused. */
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
    /** Does it, and says what went wrong behind what did not happen. Answers whether it went well. */
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
