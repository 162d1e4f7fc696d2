import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Client } from '../../src-shared/client/create-client.ts'
import type { Agent, Project } from '../../src-shared/contract/projects.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally, type LocalPage } from './harness/local-page.ts'

// Counts the presses, clicks and drags of everyday jobs, but not typing. Each job begins at the board,
// by keyboard with its card focused, and ends with its result.

interface Bench extends LocalPage {
  readonly project: Project
  readonly slow: Agent
  card(title: string): Locator
  taskNamed(title: string): Promise<Task | undefined>
  /** Resolves once the named task matches. */
  expectTask(title: string, fits: Partial<Task>): Promise<void>
}

/** Counts a person's actions. */
interface Hand {
  readonly page: Page
  press(key: string): Promise<void>
  click(what: Locator): Promise<void>
  rightClick(what: Locator): Promise<void>
  drag(from: Locator, to: Locator): Promise<void>
  readonly count: () => number
}

function handOn(page: Page): Hand {
  let count = 0
  const counted = async (work: () => Promise<void>) => {
    count += 1
    await work()
  }
  return {
    page,
    press: (key) => counted(() => page.keyboard.press(key)),
    click: (what) => counted(() => what.click()),
    rightClick: (what) => counted(() => what.click({ button: 'right' })),
    drag: (from, to) =>
      counted(async () => {
        const [start, end] = [await from.boundingBox(), await to.boundingBox()]
        if (!start || !end) throw new Error('There is nothing to drag, or nowhere to.')
        await page.mouse.move(start.x + 80, start.y + 12)
        await page.mouse.down()
        await page.mouse.move(start.x + 100, start.y + 30, { steps: 4 })
        await page.mouse.move(end.x + 90, end.y + 120, { steps: 8 })
        await to.getByText('Start', { exact: true }).waitFor()
        await page.mouse.up()
      }),
    count: () => count,
  }
}

const tab = ({ panel }: Bench, name: string) =>
  panel.getByRole('tab', { name: new RegExp(`^${name}`), selected: true }).waitFor()
const menuItem = (page: Page, name: RegExp) => page.getByRole('menuitem', { name })
const newTaskDialog = (page: Page) => page.getByRole('dialog', { name: 'New task' })
/** Waits until the dialog of a new task is open and has an agent. */
const isWriting = (page: Page) =>
  newTaskDialog(page)
    .getByRole('button', { name: /^Start with/ })
    .waitFor()
const isWritten = (page: Page) => newTaskDialog(page).waitFor({ state: 'detached' })
const sendButton = ({ page }: Bench) =>
  page.getByRole('dialog', { name: 'Request changes' }).getByRole('button', { name: /^Send 1 comment/ })
const commentBox = ({ panel }: Bench) => panel.getByRole('textbox', { name: /^Comment on line/ })

interface Job {
  readonly name: string
  /** The presses by keyboard, and the clicks and drags. */
  readonly keys: number
  readonly mouse: number
  /** The card of the job; prepared for each of the two. */
  readonly card?: 'waiting' | 'running' | 'reviewed'
  byKeys(hand: Hand, at: Bench, title: string): Promise<void>
  byMouse(hand: Hand, at: Bench, title: string): Promise<void>
  done(at: Bench, title: string): Promise<unknown>
}

/** Writes a new task, and submits it by a key or a button. */
const writing = (key: string, button: RegExp): Pick<Job, 'byKeys' | 'byMouse'> => ({
  byKeys: async (hand, { page }, title) => {
    await hand.press('c')
    await isWriting(page)
    await page.keyboard.type(title)
    await hand.press(key)
  },
  byMouse: async (hand, { page }, title) => {
    await hand.click(page.getByRole('button', { name: /^New task(?! in)/ }))
    await isWriting(page)
    await page.keyboard.type(title)
    await hand.click(newTaskDialog(page).getByRole('button', { name: button }))
  },
})

const jobs: readonly Job[] = [
  {
    name: 'New task',
    keys: 2,
    mouse: 2,
    ...writing('Control+Enter', /^Create task/),
    done: async (at, title) => {
      await isWritten(at.page)
      await at.card(title).waitFor()
    },
  },
  {
    name: 'New task and start it',
    keys: 2,
    mouse: 2,
    ...writing('Control+Shift+Enter', /^Start with/),
    done: async (at, title) => {
      await isWritten(at.page)
      await at.expectTask(title, { status: 'in_progress' })
    },
  },
  {
    name: 'Start an existing one',
    keys: 2,
    mouse: 2,
    card: 'waiting',
    byKeys: async (hand, { page }) => {
      await hand.press('s')
      await page.getByRole('dialog', { name: 'Who should do this?' }).getByRole('listitem').first().waitFor()
      await hand.press('Enter')
    },
    byMouse: async (hand, at, title) => {
      await hand.drag(at.card(title), at.page.getByRole('region', { name: /^In progress, / }))
      const agents = at.page.getByRole('dialog', { name: 'Who should do this?' })
      await hand.click(agents.getByRole('button', { name: /^Abel/ }))
    },
    done: (at, title) => at.expectTask(title, { status: 'in_progress' }),
  },
  {
    name: 'Watch the agent',
    keys: 1,
    mouse: 1,
    card: 'running',
    byKeys: (hand) => hand.press('Enter'),
    byMouse: (hand, at, title) => hand.click(at.card(title)),
    done: (at) => tab(at, 'Agent'),
  },
  {
    name: 'Stop',
    keys: 1,
    mouse: 2,
    card: 'running',
    byKeys: (hand) => hand.press('x'),
    byMouse: async (hand, at, title) => {
      await hand.rightClick(at.card(title))
      await hand.click(menuItem(at.page, /^Stop/))
    },
    done: (at, title) => at.expectTask(title, { active_execution_id: null }),
  },
  {
    name: 'Read the diff',
    keys: 1,
    mouse: 2,
    card: 'reviewed',
    byKeys: (hand) => hand.press('d'),
    byMouse: async (hand, at, title) => {
      await hand.click(at.card(title))
      await hand.click(at.panel.getByRole('tab', { name: /^Changes/ }))
    },
    done: async (at) => {
      await tab(at, 'Changes')
      await at.panel.getByText('line 3 now').waitFor()
    },
  },
  {
    name: 'Comment on a line and send it',
    keys: 5,
    mouse: 6,
    card: 'reviewed',
    byKeys: async (hand, at) => {
      await hand.press('d')
      await at.panel.getByText('line 3 now').waitFor()
      await hand.press('n')
      await hand.press('Enter')
      await commentBox(at).waitFor()
      await at.page.keyboard.type('Spell it out.')
      // Saves it, and opens the sheet that says what is sent.
      await hand.press('Control+Shift+Enter')
      await sendButton(at).waitFor()
      await hand.press('Control+Enter')
    },
    byMouse: async (hand, at, title) => {
      await hand.click(at.card(title))
      await hand.click(at.panel.getByRole('tab', { name: /^Changes/ }))
      await at.panel.getByText('line 3 now').hover()
      await hand.click(at.panel.locator('.add-note'))
      await at.page.keyboard.type('Spell it out.')
      await hand.click(at.panel.getByRole('button', { name: 'Comment', exact: true }))
      await commentBox(at).waitFor({ state: 'detached' })
      const bar = at.panel.getByRole('region', { name: 'Review' })
      await hand.click(bar.getByRole('button', { name: 'Request changes' }))
      await hand.click(sendButton(at))
    },
    done: async (at, title) => {
      const task = await at.taskNamed(title)
      const states = async () =>
        (await at.client.call('comments.list', { task_id: task?.id ?? '' })).items.map(({ state }) => state)
      await expect.poll(states).toEqual(['sent'])
    },
  },
  {
    name: 'Approve and merge',
    keys: 1,
    mouse: 2,
    card: 'reviewed',
    byKeys: (hand) => hand.press('Shift+M'),
    byMouse: async (hand, at, title) => {
      await hand.click(at.card(title))
      await hand.click(at.panel.getByRole('button', { name: 'Merge into main' }).first())
    },
    done: (at, title) => at.expectTask(title, { status: 'done' }),
  },
  {
    name: 'Set the priority',
    keys: 2,
    mouse: 3,
    card: 'waiting',
    byKeys: async (hand, { page }) => {
      await hand.press('p')
      await page.getByRole('dialog', { name: 'Priority' }).waitFor()
      await hand.press('3')
    },
    byMouse: async (hand, at, title) => {
      await hand.rightClick(at.card(title))
      await hand.click(menuItem(at.page, /^Priority/))
      await hand.click(at.page.getByRole('dialog', { name: 'Priority' }).getByRole('button', { name: /High/ }))
    },
    done: (at, title) => at.expectTask(title, { priority: 3 }),
  },
  {
    name: 'Find a task',
    keys: 2,
    mouse: 2,
    card: 'waiting',
    byKeys: async (hand, { page }, title) => {
      await hand.press('Control+k')
      await page.getByRole('textbox', { name: /^Find a task/ }).fill(title)
      await page.locator('[role="option"][data-highlighted]').filter({ hasText: title }).waitFor()
      await hand.press('Enter')
    },
    byMouse: async (hand, at, title) => {
      await hand.click(at.page.getByRole('textbox', { name: 'Search tasks' }))
      await at.page.keyboard.type(title)
      await hand.click(at.card(title))
    },
    done: (at, title) => at.panel.getByRole('heading', { name: title }).waitFor(),
  },
]

/** Creates the card of a job in the state before it. */
async function prepare({ client, project, slow, taskNamed }: Bench, { card }: Job, title: string, quick: Agent) {
  if (card === undefined) return
  const { id: task_id } = await client.call('tasks.create', { project_id: project.id, title, status: 'todo' })
  if (card === 'waiting') return
  await client.call('tasks.claim', { task_id, agent_id: card === 'running' ? slow.id : quick.id })
  const ready = { running: { status: 'in_progress' }, reviewed: { status: 'review', entry_barrier: false } }[card]
  await expect.poll(() => taskNamed(title), { timeout: 80_000 }).toMatchObject(ready)
  if (card === 'running') await isRunning(client, task_id)
}

async function isRunning(client: Client, task_id: string): Promise<void> {
  const status = async () => (await client.call('tasks.executions', { task_id })).items[0]?.status
  await expect.poll(status, { timeout: 80_000 }).toBe('running')
}

/** New cards may take the focus, so this one is focused again. */
const takeInHand = (card: Locator) =>
  expect
    .poll(async () => {
      await card.focus()
      return card.evaluate((one) => one === document.activeElement)
    })
    .toBe(true)

test('needs no more presses and clicks for the ten commonest jobs than counted here', async () => {
  const lines = Array.from({ length: 9 }, (_, n) => `line ${n + 1}\n`).join('')
  await using repository = await createTestRepository({ files: { 'add.txt': lines } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const local = await openLocally(await browser.newPage({ viewport: { width: 1440, height: 900 } }), service)
  const { page, client } = local
  const project = await client.call('projects.create', { name: 'Jobs', repo_path: repository.path })
  await client.call('projects.update_settings', { project_id: project.id, max_concurrent_executions: 50 })
  const agent = (name: string, command: string) =>
    client.call('agents.create', { name, executor: 'command', config: { command } })
  const slow = await agent('Abel', 'sleep 600')
  // Each task writes a file of its own, so that no merge conflicts.
  const quick = await agent(
    'Quick',
    'sed "s/line 3/line 3 now/" add.txt > "$SVC_TASK_ID.txt"; git add -A; git commit -qm Work; echo done',
  )
  const taskNamed = async (title: string) =>
    (await client.call('tasks.list', { project_id: project.id, q: title })).items.find((task) => task.title === title)
  const at: Bench = {
    ...local,
    project,
    slow,
    taskNamed,
    card: (title) => page.locator('[data-card]').filter({ hasText: title }),
    expectTask: async (title, fits) => {
      await expect.poll(() => taskNamed(title), { timeout: 80_000 }).toMatchObject(fits)
    },
  }
  await page.reload()
  await at.openProject('Jobs')

  const counted: Record<string, { keys: number; mouse: number }> = {}
  for (const job of jobs) {
    const counts = { keys: 0, mouse: 0 }
    for (const way of ['keys', 'mouse'] as const) {
      const title = `${job.name} by ${way}`
      await prepare(at, job, title, quick)
      await page.evaluate(`location.hash = '#/p/${project.id}'`)
      await at.panel.waitFor({ state: 'detached' })
      if (job.card) await at.card(title).waitFor()
      if (job.card && way === 'keys') await takeInHand(at.card(title))
      const hand = handOn(page)
      await (way === 'keys' ? job.byKeys(hand, at, title) : job.byMouse(hand, at, title))
      await job.done(at, title)
      counts[way] = hand.count()
    }
    counted[job.name] = counts
  }
  expect(counted).toEqual(Object.fromEntries(jobs.map(({ name, keys, mouse }) => [name, { keys, mouse }])))
})
