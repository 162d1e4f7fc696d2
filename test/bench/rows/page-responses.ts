import type { Page } from 'playwright-core'
import { openPage } from '../browser/board-page.ts'
import { openBoard, openScene } from '../browser/board-scene.ts'
import { serveFloor } from '../browser/floor-page.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const sizes = { full: { tasks: 5_000, keys: 40 }, quick: { tasks: 60, keys: 5 } } as const
type Size = (typeof sizes)[keyof typeof sizes]

/** One thing that a person does on a board of 5,000 tasks, and the same on a page of plain rows; each answers in ms. */
interface Response {
  prepare(page: Page): Promise<void>
  act(page: Page, size: Size, round: number): Promise<number>
  prepareFloor(page: Page): Promise<void>
  actOnFloor(page: Page, size: Size): Promise<number>
}

const openTask: Response = {
  prepare: () => Promise.resolve(),
  act: async (page, _size, round) => {
    const shown = "document.querySelector('[data-task-panel]')?.textContent.includes('What is asked for here')"
    const card = page.locator('[aria-label^="To do"] [data-card]').nth(round % 8)
    const waited = await clickToDrawn(page, () => card.click(), shown)
    await page.keyboard.press('Escape')
    await page.locator('[data-task-panel]').waitFor({ state: 'detached' })
    return waited
  },
  prepareFloor: () => Promise.resolve(),
  actOnFloor: (page) => clickToDrawn(page, () => page.mouse.click(20, 300), 'true'),
}

const typeTitle: Response = {
  prepare: async (page) => {
    await page.keyboard.press('c')
    await page.getByRole('dialog').getByLabel('Title').waitFor()
  },
  act: slowestKeys,
  prepareFloor: (page) => page.locator('textarea').focus(),
  actOnFloor: slowestKeys,
}

const typeComment: Response = {
  prepare: async (page) => {
    await page.locator('[data-card]').first().click()
    await page.locator('[data-task-panel]').getByRole('textbox', { name: 'Comment' }).click()
  },
  act: slowestKeys,
  prepareFloor: (page) => page.locator('textarea').focus(),
  actOnFloor: slowestKeys,
}

/**
 * How soon the page answers: from a click on a card to the drawn description of its task; and what a key costs the
 * page's main thread, its frame included, of which 19 in 20 keys cost no more. The floor is the same on plain rows, so
 * what is compared is the product's own share.
 */
export const responseRows: readonly BenchRow[] = [
  responseRow('open-task', 100, openTask),
  responseRow('type-task-key', 16, typeTitle),
  responseRow('type-comment-key', 16, typeComment),
]

function responseRow(name: string, goal: number, response: Response): BenchRow {
  return {
    name,
    unit: 'ms',
    better: 'lower',
    goal,
    compare: 'difference',
    rounds: { full: { warmUp: 1, measured: 7 }, quick: { warmUp: 0, measured: 1 } },
    prepare: (setting) => prepare(response, setting),
  }
}

async function prepare(response: Response, setting: Setting): Promise<Contest> {
  const size = sizes[setting.scale]
  await using opened = new AsyncDisposableStack()
  setting.say(`  writing ${size.tasks} tasks`)
  const board = opened.use(await openScene(setting, size.tasks))
  const product = opened.use(await openBoard(board))
  await response.prepare(product.page)
  const plainRows = opened.use(await serveFloor('plain-rows'))
  const floor = opened.use(await openPage(board.browser))
  await floor.page.goto(plainRows.url)
  await response.prepareFloor(floor.page)
  let round = 0
  const owned = opened.move()
  return {
    product: async () => {
      await product.page.bringToFront()
      return await response.act(product.page, size, round++)
    },
    floor: async () => {
      await floor.page.bringToFront()
      return await response.actOnFloor(floor.page, size)
    },
    // What is never drawn has no time.
    verify: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** From the click, by the browser's own clock, to the end of the first frame in which `shown` holds. */
async function clickToDrawn(page: Page, click: () => Promise<void>, shown: string): Promise<number> {
  await page.evaluate(`window.drawn = new Promise((done) => {
    addEventListener('click', ({ timeStamp }) => {
      const look = () => {
        if (!(${shown})) return
        seen.disconnect()
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - timeStamp)))
      }
      const seen = new MutationObserver(look)
      seen.observe(document, { subtree: true, childList: true, characterData: true })
      look()
    }, { once: true, capture: true })
  })
  // Not the promise itself, which would be awaited.
  null`)
  await click()
  return await page.evaluate<number>('window.drawn')
}

/** The cost of each key: the task that handles it, and the frame after it. */
async function slowestKeys(page: Page, { keys }: Size): Promise<number> {
  await page.evaluate(`window.costs = []
  window.onKey ??= addEventListener('keydown', () => {
    const began = performance.now()
    const after = new MessageChannel()
    after.port1.onmessage = () => {
      const handled = performance.now() - began
      requestAnimationFrame(() => {
        const frame = performance.now()
        setTimeout(() => window.costs.push(handled + performance.now() - frame))
      })
    }
    after.port2.postMessage(null)
  }, { capture: true }) ?? true`)
  await page.keyboard.type('Rate-limit deliveries by endpoint. '.repeat(3).slice(0, keys), { delay: 50 })
  await page.waitForFunction(`window.costs.length >= ${keys}`)
  const costs = await page.evaluate<number[]>('window.costs')
  return costs.sort((a, b) => a - b)[Math.floor(0.95 * (costs.length - 1))] ?? NaN
}
