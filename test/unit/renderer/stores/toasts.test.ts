import { afterEach, expect, test, vi } from 'vitest'
import { nextTick } from 'vue'
import { toast } from 'vue-sonner'
import { ExecutionId } from '../../../../src-shared/contract/ids.ts'
import { useNavigation } from '../../../../src-renderer/stores/base/navigation.ts'
import { useToasts } from '../../../../src-renderer/stores/base/toasts.ts'
import { useToastExpiry } from '../../../../src-renderer/stores/tasks/toast-expiry.ts'
import { useTasks } from '../../../../src-renderer/stores/tasks/tasks.ts'
import { withService } from '../renderer-app.ts'
import { taskOf } from '../task-fixture.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})
const task = { id: 't1', project_id: 'p1', title: 'Say in the README which commands there are, and how to run them' }

test('names its task, and links to it unless it is on screen', () => {
  const error = vi.spyOn(toast, 'error').mockReturnValue(1)
  const success = vi.spyOn(toast, 'success').mockReturnValue(1)
  vi.spyOn(toast, 'dismiss').mockReturnValue(1)
  const { used, end } = withService({}, () => ({ toasts: useToasts(), navigation: useNavigation() }))
  used.toasts.refusedOn(task, new Error('lost'), 'Merge failed')
  const [text, options] = error.mock.calls.at(-1) ?? []
  expect(text).toMatch(/^Merge failed: Say in the README which commands there are, and…\. /)
  const { action } = options as { action: { label: string; onClick: () => void } }
  expect(action.label).toBe('Open')
  action.onClick()
  expect(used.navigation.route).toEqual({ screen: 'board', projectId: 'p1', taskId: 't1', tab: null })

  used.toasts.refusedOn(task, new Error('lost'), 'Merge failed')
  expect(error.mock.calls.at(-1)?.[0]).toMatch(/^Merge failed: Say in the README /)
  expect(error.mock.calls.at(-1)?.[1]).not.toHaveProperty('action')
  used.toasts.doneOn(task, 'Merged into main')
  expect(success).not.toHaveBeenCalled()
  end()
})

/** Records the open toasts by their text. */
function watchToasts(): { readonly texts: () => readonly string[] } {
  const open = new Map<number, string>()
  let last = 0
  for (const type of ['error', 'success', 'warning'] as const) {
    vi.spyOn(toast, type).mockImplementation((text) => {
      open.set(++last, String(text))
      return last
    })
  }
  vi.spyOn(toast, 'dismiss').mockImplementation((id) => {
    open.delete(Number(id))
    return id
  })
  return { texts: () => [...open.values()] }
}

test('closes a toast when its news is old', async () => {
  const { texts } = watchToasts()
  const { used, end } = withService({}, () => {
    useToastExpiry()
    return { toasts: useToasts(), tasks: useTasks() }
  })
  const { toasts, tasks } = used
  const fix = taskOf(1, { title: 'Fix it', status: 'todo' })
  const other = taskOf(2, { title: 'Sort it', status: 'review' })
  tasks.put(fix)
  tasks.put(other)
  const fails = () => Promise.reject(new Error('lost'))

  // A later refusal takes the place of the one before, a success removes it; those of others stay.
  await toasts.attemptOn(other, 'Merge failed', fails)
  await toasts.attemptOn(fix, 'Merge failed', fails)
  await toasts.attemptOn(fix, 'Approval failed', fails)
  expect(texts()).toEqual([
    expect.stringMatching(/^Merge failed: Sort it\./),
    expect.stringMatching(/^Approval failed: Fix/),
  ])
  await toasts.attemptOn(fix, 'Merge failed', async () => undefined)
  expect(texts()).toEqual([expect.stringMatching(/^Merge failed: Sort it\./)])

  // The task starts, or moves.
  toasts.doneUntilRun(fix, 'Created SHO-1. S starts it.')
  toasts.warnOn(fix, 'No agent is running.')
  toasts.doneOn(fix, 'Requested changes')
  await nextTick()
  tasks.put({ ...fix, version: 2, active_execution_id: ExecutionId.parse('01990006-0000-7000-8000-000000000001') })
  await nextTick()
  expect(texts()).toEqual([expect.stringMatching(/^Merge failed: Sort it\./), 'Requested changes: Fix it'])
  tasks.put({ ...other, version: 2, status: 'done' })
  await nextTick()
  expect(texts()).toEqual(['Requested changes: Fix it'])
  end()
})
