import { setTimeout } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import { openScene } from '../browser/board-scene.ts'
import { usageOf } from '../process-usage.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const sizes = { full: { tasks: 200, seconds: 10 }, quick: { tasks: 10, seconds: 1 } } as const

/**
 * What page and service take of one core together, in hundredths, while a board of 200 tasks is open and nothing
 * happens: the renderer's processes as the browser counts them, the service's with what it starts. The floor is one
 * hundredth, the most that may be taken: a goal of 1 says that it stays below.
 */
export const idleBoard: BenchRow = {
  name: 'idle-open-board',
  unit: '% of a core',
  better: 'lower',
  goal: 1,
  idle: true,
  rounds: { full: { warmUp: 3, measured: 2 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare(setting: Setting): Promise<Contest> {
  const { tasks, seconds } = sizes[setting.scale]
  await using opened = new AsyncDisposableStack()
  const scene = opened.use(await openScene(setting, tasks))
  const page = opened.use(await scene.open())
  await page.page.locator('[data-card]').first().waitFor()
  const browser = await scene.browser.newBrowserCDPSession()
  const owned = opened.move()
  return {
    product: async () => {
      const before = { page: await rendererMs(browser), service: (await usageOf(scene.product.pid)).cpu_ms }
      const since = performance.now()
      await setTimeout(seconds * 1_000)
      const took = performance.now() - since
      const inPage = ((await rendererMs(browser)) - before.page) / took
      const inService = ((await usageOf(scene.product.pid)).cpu_ms - before.service) / took
      setting.say(`  page ${(inPage * 100).toFixed(2)} %, service ${(inService * 100).toFixed(2)} %`)
      // The clock of the system counts in steps: none of them is still not nothing.
      return Math.max(0.001, (inPage + inService) * 100)
    },
    floor: () => Promise.resolve(1),
    verify: async () => {
      if ((await page.page.locator('[data-card]').count()) === 0) throw new Error('The board is not open any more.')
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function rendererMs(browser: CDPSession): Promise<number> {
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo')
  return processInfo.reduce((sum, { type, cpuTime }) => sum + (type === 'renderer' ? cpuTime * 1_000 : 0), 0)
}
