import { afterEach, expect, test, vi } from 'vitest'
import { nextTick } from 'vue'
import { afterFirstBoard } from '../../../../src-renderer/stores/tasks/first-board.ts'
import { useNavigation } from '../../../../src-renderer/stores/base/navigation.ts'
import { useTasks } from '../../../../src-renderer/stores/tasks/tasks.ts'
import { boardData } from '../../../helpers/fake-board-data.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('what the first press needs is loaded once the board of the address is there, and at once after that', async () => {
  vi.useFakeTimers()
  const [project] = boardData(Date.parse('2026-11-21T12:00:00Z')).projects
  if (!project) throw new Error('There is no project.')
  const load = vi.fn(() => Promise.resolve())
  const { used: tasks, end } = withService({ 'tasks.board': () => ({ items: [], counts: {} }) }, () => {
    useNavigation().openProject(project.id)
    void afterFirstBoard(load)
    return useTasks()
  })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(load).not.toHaveBeenCalled()
  await tasks.load(project.id)
  await nextTick()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(load).toHaveBeenCalledOnce()
  await afterFirstBoard(load)
  expect(load).toHaveBeenCalledTimes(2)
  end()
})
