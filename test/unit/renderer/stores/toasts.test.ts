import { afterEach, expect, test, vi } from 'vitest'
import { toast } from 'vue-sonner'
import { useNavigation } from '../../../../src-renderer/stores/base/navigation.ts'
import { useToasts } from '../../../../src-renderer/stores/base/toasts.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})
const task = { id: 't1', project_id: 'p1', title: 'Say in the README which commands there are, and how to run them' }

test('names its task and links to it, unless it is on screen', () => {
  const error = vi.spyOn(toast, 'error').mockReturnValue(1)
  const success = vi.spyOn(toast, 'success').mockReturnValue(1)
  const { used, end } = withService({}, () => ({ toasts: useToasts(), navigation: useNavigation() }))
  used.toasts.refusedOn(task, new Error('lost'), 'Merge failed')
  const [text, options] = error.mock.calls.at(-1) ?? []
  expect(text).toMatch(/^Merge failed: Say in the README which commands there are, and…\. /)
  const { action } = options as { action: { label: string; onClick: () => void } }
  expect(action.label).toBe('Open')
  action.onClick()
  expect(used.navigation.route).toEqual({ screen: 'board', projectId: 'p1', taskId: 't1', tab: null })

  used.toasts.refusedOn(task, new Error('lost'), 'Merge failed')
  expect(error.mock.calls.at(-1)?.[0]).toMatch(/^Merge failed\. /)
  expect(error.mock.calls.at(-1)?.[1]).not.toHaveProperty('action')
  used.toasts.doneOn(task, 'Merged into main')
  expect(success).not.toHaveBeenCalled()
  end()
})
