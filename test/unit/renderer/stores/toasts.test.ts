import { afterEach, expect, test, vi } from 'vitest'
import { toast } from 'vue-sonner'
import { useNavigation } from '../../../../src-renderer/stores/navigation.ts'
import { useToasts } from '../../../../src-renderer/stores/toasts.ts'
import { withService } from '../renderer-app.ts'

vi.mock('vue-sonner', () => ({ toast: { error: vi.fn(), success: vi.fn() } }))
afterEach(() => {
  vi.unstubAllGlobals()
  vi.clearAllMocks()
})
const task = { id: 't1', project_id: 'p1', title: 'Say in the README which commands there are, and how to run them' }
const last = (of: unknown) => vi.mocked(of as typeof toast.error).mock.calls.at(-1)

test('a message names its task and leads there, unless that is the one on screen', () => {
  const { used, end } = withService({}, () => ({ toasts: useToasts(), navigation: useNavigation() }))
  used.toasts.refusedOn(task, new Error('lost'), 'Merge failed')
  const [text, options] = last(toast.error) ?? []
  expect(text).toMatch(/^Merge failed: Say in the README which commands there are, and…\. /)
  const { action } = options as { action: { label: string; onClick: () => void } }
  expect(action.label).toBe('Open')
  action.onClick()
  expect(used.navigation.route).toEqual({ screen: 'board', projectId: 'p1', taskId: 't1', tab: null })

  used.toasts.refusedOn(task, new Error('lost'), 'Merge failed')
  expect(last(toast.error)?.[0]).toMatch(/^Merge failed\. /)
  expect(last(toast.error)?.[1]).not.toHaveProperty('action')
  used.toasts.doneOn(task, 'Merged into main')
  expect(toast.success).not.toHaveBeenCalled()
  end()
})
