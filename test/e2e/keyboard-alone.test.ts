import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src-shared/client/create-client.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { apps } from './harness/both-apps.ts'
import { startWalk, type KeyboardWalk } from './harness/keyboard-walk.ts'

/** Works until it is stopped. */
const worker = 'echo "I look around"; exec tail -f /dev/null'

/** Two lines in each file at first, and one more at each request. */
const revise =
  'grep -q after src/a.ts && echo more >> more.txt || sed -i -E "5,6s/before/after/;31s/before/after/" src/*.ts; git add -A; git commit -qm Work; echo done'

describe.each(apps)('by keyboard alone, %s', (kind) => {
  let walk: KeyboardWalk
  beforeAll(async () => void (walk = await startWalk(kind)))
  afterAll(() => walk[Symbol.asyncDispose]())

  test('writes, finds, moves, assigns, starts, messages and stops a task', async () => {
    const { client, repository, page, keys, see, card, column } = walk
    const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
    const agent = { executor: 'command', config: { command: worker } } as const
    await client.call('agents.create', { name: 'Worker', ...agent })
    await client.call('tasks.create', { project_id: project.id, title: 'Beside', status: 'backlog' })
    await page.reload()
    await column(/^To do/).waitFor()

    // A task is written and found.
    await keys.press('ArrowDown')
    await keys.on(card('Beside'))
    await keys.press('c')
    const dialog = see.getByRole('dialog', { name: 'New task' })
    await keys.on(dialog.getByLabel('Title'))
    await keys.type('Greet by name')
    await keys.to(dialog.getByRole('textbox', { name: 'Description' }))
    await keys.type('Say **hello**.')
    await keys.press('Control+Enter')
    await keys.on(card('Greet by name'))
    await keys.press('/')
    await keys.type('greet')
    await card('Beside').waitFor({ state: 'detached' })
    await keys.press('Escape', 'Escape')
    await card('Beside').waitFor()

    // Over the cards, by letters and by arrows.
    await keys.press('ArrowDown')
    await keys.on(card('Greet by name'))
    await keys.press('h')
    await keys.on(card('Beside'))
    await keys.press('l')
    await keys.on(card('Greet by name'))
    await keys.press('ArrowLeft')
    await keys.on(card('Beside'))
    await keys.press('ArrowRight')
    await keys.on(card('Greet by name'))

    // Moved, assigned, and its menu.
    await keys.press('m')
    await keys.to(see.getByRole('dialog', { name: 'Move to' }).getByRole('button', { name: /^Backlog/ }), 'ArrowDown')
    await keys.press('Enter')
    await column(/^Backlog/)
      .filter({ hasText: 'Greet by name' })
      .waitFor()
    await keys.on(card('Greet by name'))
    await keys.press('j')
    await keys.on(card('Beside'))
    await keys.press('a')
    await keys.on(see.getByRole('dialog', { name: 'Assign' }).getByRole('button', { name: /Worker/ }))
    await keys.press('Enter')
    await card('Beside').getByRole('img', { name: 'Worker' }).waitFor()
    await keys.on(card('Beside'))
    await keys.press('k')
    await keys.on(card('Greet by name'))
    await keys.press('.')
    await see.getByRole('menuitem', { name: /^Stop/ }).getByText('No agent is running').waitFor()
    await keys.press('Escape')
    await see.getByRole('menu').waitFor({ state: 'detached' })
    await keys.on(card('Greet by name'))

    // Open: title and description in place, a comment and its answer.
    await keys.press('Enter')
    const panel = see.locator('[data-task-panel]')
    await panel.getByRole('tab', { name: 'Overview', selected: true }).waitFor()
    await keys.press('e')
    await keys.on(panel.getByRole('textbox', { name: 'Description' }))
    await keys.retype('Say *good day*.')
    await keys.press('Control+Enter')
    await panel.getByText('good day').waitFor()
    await keys.keptFocus()
    await keys.use(panel.getByRole('button', { name: 'Greet by name' }))
    await keys.retype('Greet everybody')
    await keys.press('Enter')
    await panel.getByRole('heading', { name: 'Greet everybody' }).waitFor()
    await keys.keptFocus()
    await keys.to(panel.getByRole('textbox', { name: 'Comment' }))
    await keys.type('Also in the evening?')
    await keys.press('Control+Enter')
    await panel.getByRole('article', { name: 'Comment by You' }).getByText('Also in the evening?').waitFor()
    await keys.keptFocus()
    await keys.use(panel.getByRole('button', { name: 'Reply' }))
    await keys.type('Then too.')
    await keys.press('Control+Enter')
    await panel.getByText('Then too.').waitFor()
    // The answer may arrive before the box knows of it, and would take its next key.
    await panel.getByRole('textbox', { name: /^Answer to/ }).waitFor({ state: 'detached' })
    await keys.keptFocus()
    await keys.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await keys.on(card('Greet everybody'))

    // Its agent: started, watched, messaged, stopped.
    await keys.press('m')
    const byWorker = see.getByRole('dialog', { name: 'Who should do this?' }).getByRole('button', { name: /Worker/ })
    await keys.to(
      see.getByRole('dialog', { name: 'Move to' }).getByRole('button', { name: /^In progress/ }),
      'ArrowDown',
    )
    await keys.hold('Enter', byWorker)
    await keys.on(byWorker)
    await keys.press('Enter')
    await column(/^In progress/)
      .filter({ hasText: 'Greet everybody' })
      .waitFor()
    // A task opens at its agent once that works.
    await card('Greet everybody').getByText('I look around').waitFor()
    await keys.on(card('Greet everybody'))
    await keys.press('Enter')
    const transcript = panel.getByRole('log', { name: 'Transcript' })
    await transcript.getByText('I look around').waitFor()
    await keys.to(panel.getByRole('textbox', { name: 'Message to Worker' }))
    await keys.type('and smile')
    await keys.press('Control+Enter')
    await panel.getByRole('list', { name: 'Messages that wait' }).getByText('and smile').waitFor()
    // In the box an x is a letter.
    await keys.to(panel.getByRole('tab', { selected: true }), 'Shift+Tab')
    await keys.press('x')
    await panel
      .getByText(/^Stopped/)
      .first()
      .waitFor()
    await keys.press('ArrowRight')
    await keys.on(panel.getByRole('tab', { name: /^Changes/, selected: true }))
    await keys.press('f')
    await panel.getByRole('button', { name: 'Back to side panel' }).waitFor()
    await keys.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await keys.on(card('Greet everybody'))
  })

  test('reads work file by file, comments, returns, approves and merges it', async () => {
    const { client, keys, see, card, column, goTo } = walk
    const lines = Array.from({ length: 60 }, (_, n) => `export const before${n} = ${n}`).join('\n') + '\n'
    await using files = await createTestRepository({ name: 'pier', files: { 'src/a.ts': lines, 'src/b.ts': lines } })
    const project = await client.call('projects.create', { name: 'Pier', repo_path: files.path })
    await askAPerson(client, project.id)
    const config = { command: revise }
    const agent = await client.call('agents.create', { name: 'Reviser', executor: 'command', config })
    const task = await client.call('tasks.create', { project_id: project.id, title: 'Rename it' })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const inReview = (text: string) =>
      column(/^Review/)
        .filter({ hasText: text })
        .waitFor()

    await goTo('Pier')
    await inReview('Rename it')
    await keys.press('ArrowDown')
    await keys.on(card('Rename it'))

    await keys.press('d')
    const panel = see.locator('[data-task-panel]')
    await panel.getByRole('navigation', { name: 'Chapters' }).waitFor()
    await keys.press('b')
    const tree = panel.getByRole('navigation', { name: 'Changed files' })
    await tree.getByText('0 of 2 viewed').waitFor()
    // Before a file is chosen, keys act on the first.
    await keys.press('v')
    await tree.getByText('1 of 2 viewed').waitFor()
    // A mark moves on to the next file; removing it does not.
    await tree.locator('[aria-current="true"]').filter({ hasText: 'b.ts' }).waitFor()
    await keys.press('[')
    await tree.locator('[aria-current="true"]').filter({ hasText: 'a.ts' }).waitFor()
    await keys.press('v')
    await tree.getByText('0 of 2 viewed').waitFor()
    await tree.locator('[aria-current="true"]').filter({ hasText: 'a.ts' }).waitFor()
    await keys.press(']')
    await tree.locator('[aria-current="true"]').filter({ hasText: 'b.ts' }).waitFor()
    await keys.press('[')
    await tree.locator('[aria-current="true"]').filter({ hasText: 'a.ts' }).waitFor()

    // A line and a range.
    await keys.to(panel.getByRole('region', { name: 'Differences' }))
    await keys.press('n', 'Enter')
    await keys.on(see.getByRole('textbox', { name: /^Comment on line \d+ of src\/a\.ts/ }))
    await keys.type('Why this?')
    await keys.press('Control+Enter')
    await panel.getByText('1 unresolved').waitFor()
    await see.getByRole('textbox', { name: /^Comment on line/ }).waitFor({ state: 'detached' })
    await keys.on(panel.getByRole('region', { name: 'Differences' }))
    await keys.press('n', 'Shift+ArrowDown', 'Enter')
    await keys.on(see.getByRole('textbox', { name: /^Comment on lines \d+ to \d+ of src\/a\.ts/ }))
    await keys.type('And these?')
    await keys.press('Control+Enter')
    await panel.getByText('2 unresolved').waitFor()
    await see.getByRole('textbox', { name: /^Comment on line/ }).waitFor({ state: 'detached' })
    await keys.on(panel.getByRole('region', { name: 'Differences' }))
    await keys.press('Shift+R')
    const sheet = see.getByRole('dialog', { name: 'Request changes' })
    await keys.on(sheet.getByRole('textbox', { name: 'Anything else?' }))
    await keys.press('Control+Enter')
    await sheet.waitFor({ state: 'detached' })
    await commits(client, task.id, 2)

    // Returned with feedback, then approved and merged.
    await keys.press('r')
    const decision = panel.getByRole('region', { name: 'Your decision' })
    const approve = decision.getByRole('button', { name: 'Approve', exact: true, disabled: false })
    await approve.waitFor()
    await keys.use(decision.getByRole('button', { name: 'Request changes' }))
    await keys.on(sheet.getByRole('textbox', { name: 'What should change' }))
    await keys.type('Once more')
    await keys.press('Control+Enter')
    await commits(client, task.id, 3)
    await keys.use(approve)
    await keys.use(panel.getByRole('button', { name: 'Merge with 2 comments unresolved' }))
    await keys.use(see.getByRole('dialog', { name: 'Merge it?' }).getByRole('button', { name: 'Merge anyway' }))
    await panel
      .getByText(/Merged into main/)
      .first()
      .waitFor()
    expect(await files.git(['show', 'main:src/b.ts'])).toContain('after30')
    await keys.press('Escape')
    await keys.on(card('Rename it'))
  })
})

/** Green CI is not enough: a person approves. */
async function askAPerson(client: Client, project_id: string): Promise<void> {
  const workflow = await client.call('projects.get_workflow', { project_id })
  const states = workflow.states.map((state) =>
    state.gate_config ? { ...state, gate_config: { ...state.gate_config, requires_human_approval: true } } : state,
  )
  await client.call('projects.update', {
    project_id,
    workflow_definition: JSON.stringify({ ...workflow, states }),
  })
}

/** Resolves once the task has been worked on this often and is in review again. */
async function commits(client: Client, task_id: string, runs: number): Promise<void> {
  const state = async () => {
    const { items } = await client.call('tasks.executions', { task_id })
    const { status, entry_barrier } = await client.call('tasks.get', { task_id })
    return { runs: items.length, status, entry_barrier }
  }
  await expect.poll(state, { timeout: 80_000 }).toEqual({ runs, status: 'review', entry_barrier: false })
}
