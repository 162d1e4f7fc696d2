import { createTestRepository } from '../../helpers/git-repository.ts'
import { openBrowser, openPage, signIn } from '../browser/board-page.ts'
import { serveFloor } from '../browser/floor-page.ts'
import { makeTasks } from '../browser/many-tasks.ts'
import { timeTo, type PageTimes } from '../browser/time-to.ts'
import { startProduct } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const sizes = { full: 5_000, quick: 50 } as const

/**
 * From the address to a board with 5,000 tasks that answers to a click, in a browser that has kept nothing: all of
 * them are counted in their columns, the first cards are drawn, and the main thread is free. The floor is an empty
 * page of the same framework and build. Both times are the browser's own, as are those of the first paints.
 */
export const firstBoard: BenchRow = {
  name: 'first-board-5000',
  unit: 'ms',
  better: 'lower',
  goal: 2,
  rounds: { full: { warmUp: 2, measured: 9 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  const count = sizes[scale]
  await using opened = new AsyncDisposableStack()
  const repository = opened.use(await createTestRepository())
  const product = opened.use(await startProduct(build))
  const { id } = await product.client.call('projects.create', { name: 'Board', repo_path: repository.path })
  say(`  writing ${count} tasks`)
  await makeTasks(product.client, id, count)
  const floor = opened.use(await serveFloor('empty'))
  const browser = opened.use(await openBrowser())
  const open = async (url: string, ready: string, isProduct: boolean): Promise<PageTimes> => {
    await using page = await openPage(browser)
    if (isProduct) await signIn(page, product)
    const times = await timeTo(page, url, ready)
    say(`  ${isProduct ? 'board' : 'empty'}: first paint after ${times.painted.toFixed(0)} ms`)
    return times
  }
  const owned = opened.move()
  return {
    product: async () => (await open(`${product.url}/#/p/${id}`, counted(count), true)).interactive,
    floor: async () => (await open(floor.url, "document.querySelector('#app > main')", false)).interactive,
    // A page that does not come to this has no time.
    verify: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The columns say how many tasks they have, and there is a card. */
const counted = (count: number) => `document.querySelector('[data-card]') && ${count} ===
  [...document.querySelectorAll('[aria-label="Board"] section')]
    .reduce((sum, { ariaLabel }) => sum + Number(/, (\\d+) tasks?/.exec(ariaLabel)?.[1] ?? 0), 0)`
