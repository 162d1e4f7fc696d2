import type { Browser } from 'playwright-core'
import type { BenchPage } from '../browser/board-page.ts'
import { openPage } from '../browser/board-page.ts'
import { openBoard, openScene, type BoardScene } from '../browser/board-scene.ts'
import { serveFloor } from '../browser/floor-page.ts'
import { makeLargeDiff, makeLongTranscript } from '../browser/large-task.ts'
import { countFrames, countShownFrames, drag, scroll, type Frames, type Place } from '../browser/late-frames.ts'
import { makeTasks } from '../browser/many-tasks.ts'
import { countBlank, type Box } from '../browser/pictures.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const sizes = {
  full: { tasks: 5_000, lines: 100_000, entries: 200_000, pixels: 10_000, seconds: 2 },
  quick: { tasks: 60, lines: 500, entries: 200, pixels: 400, seconds: 0.2 },
} as const
type Size = (typeof sizes)[keyof typeof sizes]

/** What a person does to a page, and the same to the plain rows. */
interface Scene {
  /** Makes what is shown, and opens it. */
  prepare(scene: BoardScene, size: Size): Promise<BenchPage>
  act(page: BenchPage, size: Size): Promise<void>
  actOnFloor(page: BenchPage, size: Size): Promise<void>
}

const scrollAt = (place: Place) => (page: BenchPage, size: Size) => scroll(page, place, size.pixels)
const middle: Place = { x: 700, y: 450 }
const differences = '[aria-label="Differences"]'

const scrollBoard: Scene = {
  prepare: openFullBoard,
  act: async (page, size) => scroll(page, await centreOf(page, 'section[aria-label^="Backlog"]'), size.pixels),
  actOnFloor: scrollAt(middle),
}

const dragCard: Scene = {
  prepare: openFullBoard,
  act: async (page, size) => {
    const from = await centreOf(page, '[aria-label^="To do"] [data-card]')
    await drag(page, from, await centreOf(page, 'section[aria-label^="In progress"]'), size.seconds)
  },
  actOnFloor: (page, size) => drag(page, { x: 20, y: 300 }, { x: 600, y: 500 }, size.seconds),
}

interface DiffKind {
  readonly layout: 'Unified' | 'Side by side'
  /** `file`: a fifth of the lines in one file. */
  readonly of: 'files' | 'file'
}

/** Of one file of this size the patch comes only when it is asked for, where every line is there twice. */
const hasTwoSides = ({ layout, of }: DiffKind): boolean => layout !== 'Unified' && of === 'files'

/** With threads open on the lines over which it goes. */
const scrollDiff = ({ layout, of }: DiffKind): Scene => ({
  prepare: async (scene, size) => {
    const lines = of === 'files' ? size.lines : size.lines / 5
    const changed = hasTwoSides({ layout, of })
    const task = await makeLargeDiff(scene, lines, { perThread: 20, changed, ...(of === 'file' && { perFile: lines }) })
    const page = await scene.open({ id: task.id, tab: 'changes' })
    const panel = page.page.locator('[data-task-panel]')
    await panel.getByRole('group', { name: 'Read as' }).getByRole('button', { name: 'Files' }).click()
    await panel.getByRole('region', { name: 'Differences' }).getByText('export').first().waitFor()
    await page.page.keyboard.press('f')
    await panel.getByRole('button', { name: 'View', exact: true }).click()
    await page.page.getByRole('menuitemcheckbox', { name: layout }).click()
    await panel
      .locator(`[data-diff-type="${changed ? 'split' : 'single'}"]`)
      .first()
      .waitFor()
    await panel.getByText('What about line 20?').filter({ visible: true }).first().waitFor({ timeout: 30_000 })
    return page
  },
  act: async (page, size) => scroll(page, await centreOf(page, differences), size.pixels),
  actOnFloor: scrollAt(middle),
})

/** The same diff as it is read: a third of a window at a time, with a look at each. */
const readDiff: Scene = {
  ...scrollDiff({ layout: 'Unified', of: 'files' }),
  act: async (page, size) => readAt(page, await centreOf(page, differences), size),
  actOnFloor: (page, size) => readAt(page, middle, size),
}

async function readAt(page: BenchPage, place: Place, { pixels }: Size): Promise<void> {
  for (let read = 0; read < pixels / 3; read += 300) {
    await scroll(page, place, 300)
    await page.page.waitForTimeout(400)
  }
}

/** The first chapter of the same lines, with the marks of its changes. */
const scrollChapter: Scene = {
  prepare: async (scene, size) => {
    const task = await makeLargeDiff(scene, size.lines, { perThread: 20, changed: false })
    const page = await scene.open({ id: task.id, tab: 'changes' })
    const panel = page.page.locator('[data-task-panel]')
    await panel.getByText(/^Chapter 1 of/).waitFor({ timeout: 60_000 })
    await panel.getByRole('region', { name: 'Differences' }).getByText('export').first().waitFor()
    await page.page.keyboard.press('f')
    return page
  },
  act: async (page, size) => scroll(page, await centreOf(page, differences), size.pixels),
  actOnFloor: scrollAt(middle),
}

const scrollTranscript: Scene = {
  prepare: async (scene, size) => {
    const task = await makeLongTranscript(scene, size.entries)
    const page = await scene.open({ id: task.id, tab: 'agent' })
    const end = page.page.getByRole('log', { name: 'Transcript' }).getByText(`Part ${size.entries - 4} passes.`)
    await end.waitFor()
    return page
  },
  // It is opened at its end.
  act: async (page, size) => scroll(page, await centreOf(page, '[aria-label="Transcript"]'), -size.pixels),
  actOnFloor: scrollAt(middle),
}

/** Types fast into the focused field. */
const type = async ({ page }: BenchPage, { seconds }: Size) =>
  page.keyboard.type('Rate-limit deliveries by endpoint. '.repeat(3).slice(0, seconds * typedPerSecond), {
    delay: 1_000 / typedPerSecond,
  })
const typedPerSecond = 20

const typeOnFloor = async (page: BenchPage, size: Size) => {
  await page.page.locator('textarea').focus()
  await type(page, size)
}

const typeTask: Scene = {
  prepare: async (scene, size) => {
    const page = await openFullBoard(scene, size)
    await page.page.keyboard.press('c')
    await page.page.getByRole('dialog').getByLabel('Title').waitFor()
    return page
  },
  act: type,
  actOnFloor: typeOnFloor,
}

const typeComment: Scene = {
  prepare: async (scene, size) => {
    const page = await openFullBoard(scene, size)
    await page.page.locator('[data-card]').first().click()
    await page.page.locator('[data-task-panel]').getByRole('textbox', { name: 'Comment' }).click()
    return page
  },
  act: type,
  actOnFloor: typeOnFloor,
}

/** A card is pressed, looked at for half a second, and left. */
const openTasks: Scene = {
  prepare: openFullBoard,
  act: async ({ page }, { seconds }) => {
    for (let nth = 0; nth < seconds; nth++) {
      await page.locator('[aria-label^="To do"] [data-card]').nth(nth).click()
      await page.locator('[data-task-panel]').getByRole('tab', { name: 'Overview' }).waitFor()
      await page.waitForTimeout(500)
      await page.keyboard.press('Escape')
    }
  },
  actOnFloor: async ({ page }, { seconds }) => {
    for (let nth = 0; nth < seconds; nth++) {
      await page.mouse.click(20, 300)
      await page.waitForTimeout(500)
      await page.keyboard.press('Escape')
    }
  },
}

/**
 * Counts frames that came more than 32 ms after the one before during scrolling, dragging, typing and opening tasks,
 * by the browser's own trace. The floor is the same gesture on a page of plain rows in the same virtual list: it says
 * how many frames the machine itself is late with. None may be the product's own, so what is compared is the difference.
 * `frames-` counts the frames that the page's thread began, `shown-` the frames of a scrolled diff that a person sees
 * late or with lines missing.
 */
export const frameRows: readonly BenchRow[] = [
  frameRow('frames-scroll-board', countBegun(scrollBoard)),
  frameRow('frames-drag-card', countBegun(dragCard)),
  frameRow('frames-open-task', countBegun(openTasks)),
  frameRow('frames-type-task', countBegun(typeTask)),
  frameRow('frames-type-comment', countBegun(typeComment)),
  frameRow('frames-read-diff', countBegun(readDiff)),
  frameRow('frames-scroll-diff', countBegun(scrollDiff({ layout: 'Unified', of: 'files' }))),
  frameRow('frames-scroll-diff-split', countBegun(scrollDiff({ layout: 'Side by side', of: 'files' }))),
  frameRow('frames-scroll-file', countBegun(scrollDiff({ layout: 'Unified', of: 'file' }))),
  frameRow('frames-scroll-file-split', countBegun(scrollDiff({ layout: 'Side by side', of: 'file' }))),
  frameRow('frames-scroll-chapter', countBegun(scrollChapter)),
  frameRow('frames-scroll-transcript', countBegun(scrollTranscript)),
  frameRow('shown-scroll-diff', countShown({ layout: 'Unified', of: 'files' })),
  frameRow('shown-scroll-diff-split', countShown({ layout: 'Side by side', of: 'files' })),
  frameRow('shown-scroll-file', countShown({ layout: 'Unified', of: 'file' })),
  frameRow('shown-scroll-file-split', countShown({ layout: 'Side by side', of: 'file' })),
]

type Side = 'product' | 'floor'

/** A scene and how its frames are counted: `late` is what is compared. */
interface Counted {
  readonly scene: Scene
  count(browser: Browser, page: BenchPage, side: Side, work: () => Promise<void>): Promise<Frames>
}

function countBegun(scene: Scene): Counted {
  return { scene, count: (browser, page, _side, work) => countFrames(browser, page, work) }
}

function countShown(kind: DiffKind): Counted {
  return {
    scene: scrollDiff(kind),
    count: async (browser, page, side, work) => {
      const { frames, pictures } = await countShownFrames(browser, page, work)
      if (pictures.length === 0) throw new Error('There were no pictures.')
      const blank = side === 'floor' ? 0 : await countBlank(browser, pictures, await beginningsOf(page, kind))
      return { ...frames, late: frames.late + blank }
    },
  }
}

/** Where each line of the diff, and each comment, begins: where nothing is, lines are missing. */
async function beginningsOf({ page }: BenchPage, kind: DiffKind): Promise<Box> {
  const box = await page.locator(differences).first().boundingBox()
  if (!box) throw new Error('No diff is on the page.')
  const x = box.x + (hasTwoSides(kind) ? box.width / 2 : 0) + numbersPx
  return { x, width: 200, y: box.y + headerPx, height: box.height - headerPx - 4 }
}
/** The header of a file, which stays at the top while its lines are scrolled, and the numbers of lines. */
const headerPx = 40
const numbersPx = 60

function frameRow(name: string, counted: Counted): BenchRow {
  return {
    name,
    unit: 'late frames',
    better: 'lower',
    goal: 0,
    compare: 'difference',
    rounds: { full: { warmUp: 1, measured: 2 }, quick: { warmUp: 0, measured: 1 } },
    prepare: (setting) => prepare(counted, setting),
  }
}

async function prepare({ scene, count }: Counted, setting: Setting): Promise<Contest> {
  const size = sizes[setting.scale]
  await using opened = new AsyncDisposableStack()
  const board = opened.use(await openScene(setting))
  const product = opened.use(await scene.prepare(board, size))
  const plainRows = opened.use(await serveFloor('plain-rows'))
  const floor = opened.use(await openPage(board.browser))
  await floor.page.goto(plainRows.url)
  let fewest = Infinity
  const round = async (side: Side): Promise<number> => {
    const [page, act] = side === 'product' ? [product, scene.act] : [floor, scene.actOnFloor]
    await page.page.bringToFront()
    const frames = await count(board.browser, page, side, () => act(page, size))
    setting.say(`  ${told(frames)}`)
    fewest = Math.min(fewest, frames.all)
    return frames.late
  }
  const owned = opened.move()
  return {
    product: () => round('product'),
    floor: () => round('floor'),
    verify: () => (fewest > 1 ? Promise.resolve() : Promise.reject(new Error('There were no frames.'))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const told = ({ all, late, longestMs }: Frames) =>
  `${late} of ${all} frames late, the longest ${longestMs.toFixed(0)} ms`

async function openFullBoard(scene: BoardScene, size: Size): Promise<BenchPage> {
  await makeTasks(scene.product.client, scene.project.id, size.tasks)
  return await openBoard(scene)
}

async function centreOf({ page }: BenchPage, selector: string): Promise<Place> {
  const box = await page.locator(selector).first().boundingBox()
  if (!box) throw new Error(`${selector} is not on the page.`)
  return { x: box.x + box.width / 2, y: box.y + Math.min(box.height / 2, 200) }
}
