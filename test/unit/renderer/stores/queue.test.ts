import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { nextTick } from 'vue'
import { useRunners } from '../../../../src-renderer/stores/agents/runners.ts'
import { useExecutions } from '../../../../src-renderer/stores/runs/executions.ts'
import { useNavigation } from '../../../../src-renderer/stores/base/navigation.ts'
import { useProjects } from '../../../../src-renderer/stores/project/projects.ts'
import { useQueue } from '../../../../src-renderer/stores/runs/queue.ts'
import { useTaskInvalidation } from '../../../../src-renderer/stores/base/query.ts'
import { useTasks } from '../../../../src-renderer/stores/tasks/tasks.ts'
import type { Runner } from '../../../../src-shared/contract/runners.ts'
import type { Queue } from '../../../../src-shared/contract/queue.ts'
import { boardData } from '../../../helpers/fake-board-data.ts'
import { withService } from '../renderer-app.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const data = boardData(Date.parse('2026-11-21T12:00:00Z'))
const [first, second] = data.projects
const waiting = data.tasks[0]
const active = data.tasks.find((task) => task.active_execution_id !== null)
if (!first || !second || !waiting || !active) throw new Error('The board of the tests is too small.')

/** The store on a service with the queue `queue`, and the requested projects. */
function start(queue: (projectId: string) => Queue | Promise<Queue>) {
  const asked: string[] = []
  const { used, end } = withService(
    {
      'projects.queue': ({ project_id }: { project_id: string }) => {
        asked.push(project_id)
        return queue(project_id)
      },
      'projects.update_settings': (settings: object) => settings,
    },
    () => {
      const projects = useProjects()
      for (const project of data.projects) projects.put(project)
      const shown = { projects, navigation: useNavigation(), news: useTaskInvalidation() }
      return { ...shown, queue: useQueue(), tasks: useTasks(), executions: useExecutions(), runners: useRunners() }
    },
  )
  const settle = async () => {
    await nextTick()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  return { ...used, asked, settle, end }
}
const empty: Queue = { limit: 4, running: [], waiting: [] }
const inLine = (position: number): Queue => ({
  ...empty,
  waiting: [
    {
      execution_id: data.executions[0]?.id ?? ('' as never),
      task_id: waiting.id,
      title: waiting.title,
      role: 'coder',
      agent_id: data.agents[0]?.id ?? ('' as never),
      created_at: waiting.created_at,
      reason: 'slots_full',
      position,
    },
  ],
})

test('reads the current project’s queue first, and again only after a change', async () => {
  let position = 2
  const app = start(() => inLine(position))
  await app.settle()
  expect(app.asked).toEqual([first.id])
  expect(app.queue.waitingOf(waiting.id)?.position).toBe(2)
  app.tasks.put(waiting)
  await app.settle()
  expect(app.asked).toHaveLength(1)
  position = 1
  app.tasks.put(active)
  await app.settle()
  expect(app.asked).toHaveLength(2)
  expect(app.queue.waitingOf(waiting.id)?.position).toBe(1)
  app.news.changed(active.id, 'hooks')
  await app.settle()
  expect(app.asked).toHaveLength(3)
  app.end()
})

test('reads again for a changed limit, not for settings that come after the queue', async () => {
  const app = start(() => empty)
  const know = async (max_concurrent_executions: number) => {
    await app.projects.updateSettings({ project_id: first.id, max_concurrent_executions })
    await app.settle()
  }
  await app.settle()
  await know(4)
  expect(app.asked).toHaveLength(1)
  await know(2)
  expect(app.asked).toHaveLength(2)
  app.end()
})

test('reads again once a runner has room, is ready or is another one, but not for runs on this machine', async () => {
  const app = start(() => empty)
  await app.settle()
  const here = { id: 'here', kind: 'here', name: 'This machine', state: 'ready', running: 0, capacity: 1 }
  const box = { ...here, id: 'box', kind: 'container', name: 'Box', running: 1 }
  const put = async (runner: typeof here) => {
    app.runners.put(runner.id, runner as unknown as Runner)
    await app.settle()
    return app.asked.length
  }
  expect([await put(here), await put({ ...here, running: 1 })]).toEqual([1, 1])
  expect([await put(box), await put({ ...box, name: 'Shed' })]).toEqual([2, 2])
  expect(await put({ ...box, running: 0 })).toBe(3)
  expect(await put({ ...box, running: 0, state: 'unreachable' })).toBe(4)
  app.end()
})

test('reads once more for changes during a read, however many', async () => {
  const answer = Promise.withResolvers<Queue>()
  const app = start(() => answer.promise)
  await app.settle()
  for (const task of data.tasks.filter((one) => one.active_execution_id !== null)) {
    app.tasks.put(task)
    await nextTick()
  }
  expect(app.asked).toHaveLength(1)
  answer.resolve(empty)
  await app.settle()
  expect(app.asked).toHaveLength(2)
  app.end()
})

test('does not show another project’s late answer', async () => {
  const late = Promise.withResolvers<Queue>()
  const app = start((projectId) => (projectId === first.id ? late.promise : empty))
  await app.settle()
  app.navigation.openProject(second.id)
  await app.settle()
  late.resolve(inLine(2))
  await app.settle()
  expect(app.asked).toEqual([first.id, second.id])
  expect(app.queue.current).toEqual(empty)
  expect(app.queue.waitingOf(waiting.id)).toBeNull()
  app.end()
})

test('shows a task’s position in its own project’s queue', async () => {
  const app = start((projectId) => (projectId === second.id ? inLine(2) : empty))
  await app.settle()
  app.navigation.go({ screen: 'all', taskId: null, tab: null })
  app.tasks.put({ ...active, project_id: second.id })
  await app.settle()
  expect(app.asked).toEqual([first.id, second.id])
  expect(app.queue.current).toEqual(empty)
  expect(app.queue.waitingOf(waiting.id)?.position).toBe(2)
  app.navigation.openProject(first.id)
  await app.settle()
  expect(app.queue.waitingOf(waiting.id)).toBeNull()
  app.end()
})

test('clears a stall when the agent is active or has ended', () => {
  const app = start(() => empty)
  const [activity] = data.activities
  const execution = data.executions.find(({ id }) => id === activity?.execution_id)
  if (!activity || !execution) throw new Error('Nobody is at work.')
  const { task_id } = activity
  app.executions.setActivity({ ...activity, quiet_since: '2026-11-21T11:48:00.000Z' })
  expect(app.executions.quietSince(task_id, execution.id)).toBe('2026-11-21T11:48:00.000Z')
  expect(app.executions.quietSince(task_id, 'another run of it')).toBeNull()
  app.executions.setActivity(activity)
  expect(app.executions.quietSince(task_id, execution.id)).toBeNull()
  app.executions.setActivity({ ...activity, quiet_since: '2026-11-21T11:48:00.000Z' })
  app.executions.put({ ...execution, status: 'stopped', finished_at: '2026-11-21T12:00:00.000Z' })
  expect(app.executions.quietSince(task_id, execution.id)).toBeNull()
  app.end()
})
