import { toast } from 'vue-sonner'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { errorSentence } from '../formatters/error-sentence.ts'
import { useNavigation } from './navigation.ts'

interface ToastAction {
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
      options(10_000, action ?? lookAgain(error)),
    )

  return {
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
