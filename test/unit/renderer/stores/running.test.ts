import { afterEach, expect, test, vi } from 'vitest'
import { useRunning } from '../../../../src-renderer/stores/runs/running.ts'
import { useTasks } from '../../../../src-renderer/stores/tasks/tasks.ts'
import { boardData } from '../../../helpers/fake-board-data.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('does not know how many agents work before the tasks are loaded', async () => {
  const data = boardData(Date.parse('2026-11-21T12:00:00Z'))
  const active = data.tasks.filter((task) => task.active_execution_id !== null)
  const [project_id = ''] = active.map((task) => task.project_id)
  const items = data.tasks.filter((task) => task.project_id === project_id)
  const never = new Promise(() => undefined)
  const { used, end } = withService(
    { 'tasks.board': () => ({ items, counts: {} }), 'executions.get': () => never },
    () => ({
      tasks: useTasks(),
      running: useRunning(),
    }),
  )
  expect(used.running.isKnown(project_id)).toBe(false)
  await used.tasks.load(project_id)
  expect(used.running.isKnown(project_id)).toBe(true)
  expect(used.running.inProject(project_id)).toBe(active.filter((task) => task.project_id === project_id).length)
  end()
})
