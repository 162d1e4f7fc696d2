import type { Page, Route } from 'playwright-core'
import type { Demo } from './demo/make-demo.ts'

/** One picture: where it is, and what to do there until it can be taken. */
export interface Screen {
  readonly name: string
  /** What follows `#` in the address. */
  readonly at: (demo: Demo) => string
  readonly act?: (page: Page) => Promise<unknown>
  /** Before the page is opened: what its requests meet. */
  readonly meets?: (page: Page) => Promise<unknown>
  /** As somebody who has not signed in. */
  readonly asStranger?: boolean
  /** The button of the mouse stays down. */
  readonly holdsPointer?: boolean
}

type TaskName = keyof Demo['tasks']

const board = ({ projectId }: Demo) => `/p/${projectId}`
const task = (name: TaskName, tab: string) => (demo: Demo) => `${board(demo)}/t/${demo.tasks[name].id}/${tab}`
const panel = (page: Page) => page.locator('[data-task-panel]')
const card = (page: Page, title: string) => page.locator('[data-card]').filter({ hasText: title }).first()
const press = (key: string) => async (page: Page) => {
  await page.locator('[data-card]').first().waitFor()
  await page.keyboard.press(key)
}
const onCard = (key: string) => async (page: Page) => {
  await card(page, 'Lease deliveries').focus()
  await page.keyboard.press(key)
  await page.getByRole('dialog').getByRole('listitem').first().waitFor()
}
const fullPage = async (page: Page) => {
  await panel(page).getByRole('tab', { selected: true }).waitFor()
  await page.keyboard.press('f')
}
/** In colour: the workers have been there. */
const differences = (page: Page) => page.locator('diffs-container [data-line] span[style]').first().waitFor()
/** What is asked from then on fails, and what is being answered breaks off. */
const connectionToCut = `{
  const ask = globalThis.fetch
  const line = new AbortController()
  const lost = () => new TypeError('Failed to fetch')
  globalThis.cutConnection = () => line.abort(lost())
  globalThis.fetch = (input, init) => {
    if (line.signal.aborted) return Promise.reject(lost())
    return ask(input, { ...init, signal: AbortSignal.any([line.signal, ...(init?.signal ? [init.signal] : [])]) })
  }
}`
const never = () => new Promise<never>(() => undefined)

/** Answers what the page asks of tasks. Without the one answer for all, it asks for each part alone. */
async function answerTasks(page: Page, answer: (route: Route) => Promise<void>): Promise<void> {
  await page.route(/\/first_screen$/, (route) => route.abort())
  await page.route(/\/projects\/[^/]+\/(tasks|board)/, answer)
}

async function drag(page: Page): Promise<void> {
  const from = await card(page, 'Lease deliveries').boundingBox()
  const to = await page.getByRole('region', { name: /^Merging/ }).boundingBox()
  if (!from || !to) throw new Error('There is nothing to drag, or nowhere to.')
  await page.mouse.move(from.x + 90, from.y + 40)
  await page.mouse.down()
  await page.mouse.move(from.x + 110, from.y + 60, { steps: 4 })
  await page.mouse.move(to.x + 80, to.y + 340, { steps: 8 })
}

const onBoard: readonly Screen[] = [
  { name: '01-board', at: board },
  { name: '01b-board-drag', at: board, act: drag, holdsPointer: true },
  { name: '01c-board-menu', at: board, act: (page) => card(page, 'Lease deliveries').click({ button: 'right' }) },
  { name: '01d-board-list', at: board, act: (page) => page.getByText('List', { exact: true }).click() },
  {
    name: '01e-board-queue',
    at: board,
    act: (page) =>
      page
        .getByRole('button', { name: /running/ })
        .first()
        .click(),
  },
  { name: '01f-all-projects', at: () => '/all' },
  { name: '01g-board-lantern', at: board, act: (page) => page.getByText('lantern').first().click() },
  { name: '01h-board-move', at: board, act: onCard('m') },
  { name: '01i-board-assign', at: board, act: onCard('a') },
  { name: '01j-board-filter', at: board, act: press('Shift+F') },
  { name: '10-palette', at: board, act: press('Control+k') },
  { name: '10b-shortcuts', at: board, act: press('?') },
  { name: '11a-empty', at: ({ emptyProjectId }) => `/p/${emptyProjectId}` },
  {
    name: '11b-loading',
    at: board,
    meets: (page) => answerTasks(page, never),
    act: (page) => page.getByRole('status', { name: /^Loading/ }).waitFor(),
  },
  {
    name: '11c-error',
    at: board,
    meets: (page) =>
      answerTasks(page, (route) =>
        route.fulfill({ status: 500, json: { error: { code: 'internal_error', message: 'The database is locked.' } } }),
      ),
    act: (page) => page.getByText('Couldn’t load').waitFor(),
  },
  {
    name: '11d-offline',
    at: board,
    meets: (page) => page.addInitScript({ content: connectionToCut }),
    act: async (page) => {
      await page.locator('[data-card]').first().waitFor()
      await page.evaluate('globalThis.cutConnection()')
      await page.getByText('Lost connection').waitFor()
    },
  },
  {
    name: '12-new-task',
    at: board,
    act: async (page) => {
      await press('c')(page)
      await page.getByRole('dialog').getByLabel('Title').fill('Honour Retry-After on 429 only')
    },
  },
  {
    name: '12b-new-task-template',
    at: board,
    act: async (page) => {
      await press('c')(page)
      await page.getByRole('button', { name: 'Template' }).click()
    },
  },
  {
    name: '12c-new-task-prompt',
    at: board,
    act: async (page) => {
      await press('c')(page)
      await page.getByRole('button', { name: 'Template' }).click()
      await page.getByRole('menuitemcheckbox', { name: 'Bug' }).click()
      await page.keyboard.type('a 429 without Retry-After stops all retries')
      await page.getByRole('button', { name: 'Preview prompt' }).click()
      await page.getByRole('region', { name: 'Prompt preview' }).locator('pre').first().waitFor()
    },
  },
  {
    name: '12d-template',
    at: (demo) => `${board(demo)}/settings/templates`,
    act: (page) => page.getByRole('button', { name: 'Edit Bug' }).click(),
  },
]

const onTask: readonly Screen[] = [
  { name: '02-agent', at: task('running', 'agent') },
  {
    name: '02b-agent-scrolled',
    at: task('running', 'agent'),
    act: async (page) => {
      const log = page.getByRole('log', { name: 'Transcript' })
      await log.getByText('I start with how').or(log.getByText('injected clock')).first().waitFor()
      await log.hover()
      await page.mouse.wheel(0, -420)
    },
  },
  {
    name: '02e-agent-terminal',
    at: task('running', 'agent'),
    act: (page) => panel(page).getByText('Terminal', { exact: true }).click(),
  },
  { name: '02c-overview', at: task('running', 'overview') },
  { name: '02f-overview-subtasks', at: task('parent', 'overview') },
  { name: '02d-workspace', at: task('running', 'workspace') },
  {
    name: '02h-reset',
    at: task('running', 'workspace'),
    act: (page) => page.getByRole('button', { name: 'Reset worktree…' }).click(),
  },
  { name: '02g-question', at: task('plan', 'agent') },
  {
    name: '03-changes',
    at: task('running', 'changes'),
    act: async (page) => {
      await fullPage(page)
      await differences(page)
    },
  },
  { name: '03b-changes-panel', at: task('running', 'changes'), act: differences },
  {
    name: '03c-changes-comment',
    at: task('running', 'changes'),
    act: async (page) => {
      await differences(page)
      await page.getByRole('region', { name: 'Differences' }).focus()
      for (const key of ['ArrowDown', 'Shift+ArrowDown', 'Enter']) await page.keyboard.press(key)
      await page.getByRole('textbox', { name: /^Comment on/ }).fill('Is this the only place?')
    },
  },
  { name: '04-review', at: task('review', 'review') },
  { name: '04b-review-failed', at: task('failing', 'review') },
  { name: '04c-merge-conflict', at: task('conflict', 'review') },
  { name: '05-activity', at: task('review', 'activity') },
  { name: '05b-hooks', at: task('barrier', 'hooks') },
]

/** By way of the board, so that the pages of a project are this one's. */
const settings = (number: string, section: string): Screen => ({
  name: `${number}-${section}`,
  at: board,
  act: (page) => page.evaluate(`location.hash = '/settings/${section}'`),
})

const elsewhere: readonly Screen[] = [
  { name: '06-inbox', at: () => '/inbox' },
  settings('06b', 'notifications'),
  { name: '07-workflow', at: (demo) => `${board(demo)}/workflow` },
  {
    name: '07b-workflow-dry-run',
    at: (demo) => `${board(demo)}/workflow`,
    act: (page) => page.getByText('Dry run', { exact: true }).first().click(),
  },
  { name: '08-agents', at: board, act: (page) => page.evaluate("location.hash = '/agents'") },
  {
    name: '08f-agent',
    at: board,
    act: async (page) => {
      await page.evaluate("location.hash = '/agents'")
      await page.getByRole('button', { name: /^Add/ }).first().click()
      await page.getByRole('dialog').getByLabel('Type').waitFor()
    },
  },
  settings('08b', 'api'),
  settings('08c', 'storage'),
  settings('08i', 'runners'),
  {
    name: '08ia-runner',
    at: board,
    act: async (page) => {
      await page.evaluate("location.hash = '/settings/runners'")
      await page.getByRole('button', { name: 'Add runner' }).click()
      await page.getByRole('dialog').getByLabel('Image').waitFor()
    },
  },
  settings('08d', 'account'),
  {
    ...settings('08d', 'account'),
    name: '08da-account-asking',
    act: async (page) => {
      await page.evaluate("location.hash = '/settings/account'")
      await page.getByRole('button', { name: 'Change…' }).click()
      await page.getByRole('button', { name: 'New token' }).click()
    },
  },
  settings('08h', 'people'),
  {
    name: '08ha-people-codes',
    at: board,
    act: async (page) => {
      await page.evaluate("location.hash = '/settings/people'")
      await page.getByRole('button', { name: 'Invite someone' }).click()
      await page.getByRole('button', { name: 'Manage Mara Lind' }).click()
      await page.getByRole('table', { name: 'Tokens of Mara Lind' }).waitFor()
      await page.getByRole('button', { name: 'Reset password…' }).click()
    },
  },
  settings('08e', 'appearance'),
  settings('08g', 'keyboard'),
  ...[
    'repositories',
    'issues',
    'hooks',
    'review',
    'templates',
    'where',
    'limits',
    'prompts',
    'knowledge',
    'members',
    'merge',
  ].map((section) => settings('08p', section)),
  { name: '09-first-run', at: () => '/add' },
  { name: '09b-sign-in', at: () => '/', asStranger: true },
  {
    name: '09c-register',
    at: () => '/',
    asStranger: true,
    act: (page) => page.getByRole('button', { name: 'Create an account' }).click(),
  },
  {
    name: '09d-reset',
    at: () => '/',
    asStranger: true,
    act: (page) => page.getByRole('button', { name: 'Use a reset code' }).click(),
  },
]

/** Every screen, in the order of its picture's name. */
export const screens: readonly Screen[] = [...onBoard, ...onTask, ...elsewhere].toSorted((a, b) =>
  a.name.localeCompare(b.name),
)
