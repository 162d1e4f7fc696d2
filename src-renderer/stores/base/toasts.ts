import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
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

/** How long a toast offers to undo a merge. */
export const undoableMs = 10_000

/** What an open toast speaks of. */
interface ToastSubject {
  /** The ID of its task; otherwise the sentence that names the change. */
  readonly id: string
  readonly isRefusal: boolean
  /** What makes the toast old: the task changes its state, or it does so or its run changes. */
  readonly until: 'moved' | 'moved_or_run'
}

/** The open toasts that something later can make old. */
export const useOpenToasts = defineStore('open-toasts', () => {
  const subjects = shallowReactive(new Map<string | number, ToastSubject>())
  function close(toastId: string | number): void {
    subjects.delete(toastId)
    toast.dismiss(toastId)
  }
  return {
    subjects,
    close,
    closeRefusals(id: string): void {
      for (const [toastId, subject] of subjects) if (subject.isRefusal && subject.id === id) close(toastId)
    },
  }
})

/** Short messages that close after a timeout, or when their news is old. Refusals stay longer. */
export function useToasts() {
  const open = useOpenToasts()
  function show(
    type: 'success' | 'error' | 'warning',
    text: string,
    action?: ToastAction,
    subject?: ToastSubject,
    duration = type === 'success' ? 4_000 : 10_000,
  ) {
    if (subject?.isRefusal) open.closeRefusals(subject.id)
    let taken = false
    const leave = () => {
      if (id !== undefined) open.subjects.delete(id)
      if (!taken) action?.left?.()
      taken = true
    }
    const onClick = () => {
      taken = true
      action?.run()
    }
    const id: string | number | undefined = toast[type](text, {
      duration,
      ...(action && { action: { label: action.label, onClick } }),
      onDismiss: leave,
      onAutoClose: leave,
    })
    if (subject) open.subjects.set(id, subject)
  }
  const refusalOf = (id: string): ToastSubject => ({ id, isRefusal: true, until: 'moved_or_run' })

  /**
   * Shows a refusal. `context` says which change did not happen: `“Fix login” stays in To do.` The toast closes when
   * the task moves on, or a later attempt at the same change succeeds.
   */
  const refused = (error: unknown, context = '', action?: ToastAction, task?: TaskOfToast) =>
    show(
      'error',
      [context, errorSentence(error)].filter((part) => part !== '').join(' '),
      changesAction(error) ?? action,
      refusalOf(task?.id ?? context),
    )
  const warn = (message: string, action?: ToastAction, task?: TaskOfToast) =>
    show('warning', message, action, refusalOf(task?.id ?? message))

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
  /** Shows a refusal about a task, and names the task: another may be open before the toast closes. */
  const refusedOn = (task: TaskOfToast, error: unknown, what: string, action?: ToastAction) =>
    refused(error, `${what}: ${cut(task.title)}.`, action ?? opening(task), task)

  return {
    opening,
    refusedOn,
    /** Shows a success about a task, unless it is open, because then the screen shows it. */
    doneOn: (task: TaskOfToast, what: string) => {
      if (isOpen(task)) return
      const subject = { id: task.id, isRefusal: false, until: 'moved' } as const
      show('success', `${what}: ${cut(task.title)}`, opening(task), subject)
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
        open.closeRefusals(task.id)
        return true
      } catch (error) {
        refusedOn(task, error, what, wayOn?.(error))
        return false
      }
    },
    done: (message: string, action?: ToastAction) => show('success', message, action),
    /** Shows a success that says how the task goes on. The toast closes when it does. */
    doneUntilRun: (task: TaskOfToast, message: string, action?: ToastAction) =>
      show('success', message, action, { id: task.id, isRefusal: false, until: 'moved_or_run' }),
    /** Shows a success that can be undone, long enough to read it and think. The toast closes when the task moves on. */
    undoable: (task: TaskOfToast, message: string, undo: () => void) =>
      show(
        'success',
        message,
        { label: 'Undo', run: undo },
        { id: task.id, isRefusal: false, until: 'moved' },
        undoableMs,
      ),
    refused,
    /** Closes the refusals of a change, because a later attempt succeeded. `id`: of its task, else its `context`. */
    succeeded: (id: string): void => open.closeRefusals(id),
    /** Runs `work` and shows a failure after `context`. Returns whether it succeeded. */
    async attempt(context: string, work: () => Promise<unknown>): Promise<boolean> {
      try {
        await work()
        open.closeRefusals(context)
        return true
      } catch (error) {
        refused(error, context)
        return false
      }
    },
    warn,
    /** Warns about a task, by its title. `reason` is a sentence. */
    warnOn: (task: TaskOfToast, reason: string) => warn(`“${cut(task.title)}”: ${reason}`, undefined, task),
  }
}
