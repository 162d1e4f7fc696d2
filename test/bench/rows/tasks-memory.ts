import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { BenchPage } from '../browser/board-page.ts'
import { openScene } from '../browser/board-scene.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const sizes = { full: { warmUp: 210, count: 200 }, quick: { warmUp: 7, count: 7 } } as const
const tabs = ['overview', 'agent', 'changes', 'review', 'activity', 'hooks', 'workspace'] as const

/**
 * What the page holds after 200 tasks were opened and closed, each on another of the tabs, against what it held
 * before: the script's heap once the browser was made to collect its garbage. Every round has a new page, in which
 * every tab was open thirty times before: until then the engine still compiles, and its code counts as memory.
 */
export const tasksMemory: BenchRow = {
  name: 'memory-200-tasks',
  unit: 'MB',
  better: 'lower',
  goal: 1.05,
  rounds: { full: { warmUp: 0, measured: 1 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare(setting: Setting): Promise<Contest> {
  const { warmUp, count } = sizes[setting.scale]
  await using opened = new AsyncDisposableStack()
  const scene = opened.use(await openScene(setting, count + warmUp))
  let before = 0
  const owned = opened.move()
  return {
    product: async () => {
      await using page = await scene.open()
      await page.page.locator('[data-card]').first().waitFor()
      await openAndClose(page, scene.project.id, scene.tasks.slice(0, warmUp))
      before = await heapOf(page)
      await openAndClose(page, scene.project.id, scene.tasks.slice(warmUp))
      const after = await heapOf(page)
      setting.say(`  ${await nodesOf(page)} nodes in the end`)
      return after
    },
    floor: () => Promise.resolve(before),
    verify: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function openAndClose({ page }: BenchPage, projectId: string, ids: readonly TaskId[]): Promise<void> {
  const panel = page.locator('[data-task-panel]')
  const go = (hash: string) => page.evaluate((next) => void (location.hash = next), hash)
  for (const [number, id] of ids.entries()) {
    await go(`#/p/${projectId}/t/${id}/${tabs[number % tabs.length] ?? ''}`)
    await panel.getByRole('tab', { selected: true }).waitFor()
    await panel.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    await go(`#/p/${projectId}`)
    await panel.waitFor({ state: 'detached' })
  }
}

/** In MB. */
async function heapOf({ cdp }: BenchPage): Promise<number> {
  // What the first collection lets go of may hold something itself.
  for (let time = 0; time < 3; time += 1) await cdp.send('HeapProfiler.collectGarbage')
  return (await cdp.send('Runtime.getHeapUsage')).usedSize / 1024 / 1024
}

async function nodesOf({ cdp }: BenchPage): Promise<number> {
  return (await cdp.send('Memory.getDOMCounters')).nodes
}
