import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const viewport = { width: 1440, height: 900 }
const lines = (word: string) =>
  Array.from({ length: 80 }, (_, n) => `export const ${word}${n} = ${n}`).join('\n') + '\n'
const names = ['a', 'b', 'c', 'd', 'e', 'f']
const files = Object.fromEntries(names.map((name) => [`src/${name}.ts`, lines('before')]))

test('updates an open diff with the worktree, and keeps scroll, folders and valid marks', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-e2e-'))
  try {
    await using repository = await createTestRepository({ files: { ...files, 'docs/note.md': 'note\n' } })
    await using browser = await launchChromium()
    await using service = await startBuiltService({ as: 'local', dataDir })
    const { page, client, panel, openProject, openTask } = await openLocally(
      await browser.newPage({ viewport, permissions: ['clipboard-write'] }),
      service,
    )
    const project = await client.call('projects.create', { name: 'Live', repo_path: repository.path })
    const command =
      'for f in src/*.ts; do sed -i s/before/after/ $f; done; echo more >> docs/note.md; echo at it; exec tail -f /dev/null'
    const agent = await client.call('agents.create', { name: 'Long', executor: 'command', config: { command } })
    const task = await client.call('tasks.create', { project_id: project.id, title: 'Write on' })
    const { workspace } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const path = workspace?.path ?? ''
    await page.reload()
    await openProject('Live')
    await openTask('Write on', 'Files')
    await page.keyboard.press('f')
    const tree = panel.getByRole('navigation', { name: 'Changed files' })
    await tree.getByText('0 of 7 viewed').waitFor()

    // By keyboard from the current place; the file collapses.
    await tree.getByTitle('docs/note.md').click()
    await page.keyboard.press('v')
    await tree.getByText('1 of 7 viewed').waitFor()
    // The next file follows; the marked file is collapsed.
    await expect.poll(() => tree.locator('[aria-current="true"]').getAttribute('title')).toBe('src/a.ts')
    await tree.getByTitle('docs/note.md').click()
    await panel.getByRole('button', { name: 'Open docs/note.md' }).waitFor()
    await tree.getByTitle('src/c.ts').click()
    // A press counts although the file is redrawn before the button is released, and so does a place held by key.
    const tick = panel.getByRole('checkbox', { name: 'Viewed src/c.ts' })
    const press = async () => {
      await page.mouse.up()
      await tick.hover()
      await page.mouse.down()
      return focusedLabel(page)
    }
    // The view may settle on the file only once the pointer is there.
    await expect.poll(press).toBe('Viewed src/c.ts')
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(() => schemeOf(panel.locator('pre').first())).toBe('dark')
    await page.mouse.up()
    await tree.getByText('2 of 7 viewed').waitFor()
    await page.emulateMedia({ colorScheme: 'light' })
    await expect.poll(() => schemeOf(panel.locator('pre').first())).toBe('light')
    expect(await focusedLabel(page)).toBe('Viewed src/c.ts')
    await tree.getByRole('button', { name: 'docs', exact: true }).click()
    await tree.getByTitle('src/e.ts').click()
    const before = await topOf(page, 'src/e.ts')

    // A file above the current one appears, another's content changes.
    await writeFile(join(path, 'src', 'a0.ts'), lines('fresh'))
    await writeFile(join(path, 'src', 'c.ts'), lines('again'))
    await tree.getByText('1 of 8 viewed').waitFor()
    await tree.getByTitle('src/a0.ts').waitFor()
    expect(await topOf(page, 'src/e.ts')).toBeCloseTo(before, 0)
    expect(await tree.getByRole('button', { name: 'docs', exact: true }).getAttribute('aria-expanded')).toBe('false')
    expect(await tree.locator('[aria-current="true"]').textContent()).toContain('e')

    // Lines are walked and commented by keyboard; a draft stays too.
    await commentByKeyboard(page, panel)
    // Marks belong to the person and survive a restart.
    await service.stop()
    await using again = await startBuiltService({ as: 'local', dataDir })
    const later = await openLocally(await browser.newPage({ viewport }), again)
    await later.openProject('Live')
    await later.openTask('Write on', 'Files')
    await later.panel.getByText('1 of 8 viewed').waitFor()
    await later.panel.getByRole('checkbox', { name: 'Viewed docs/note.md', checked: true }).waitFor()
    await later.panel.getByText('2 comments not sent').first().waitFor()
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})

test('refuses a merge of a late change, shows it, then merges', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Late', repo_path: repository.path })
  const config = { command: 'echo one > one.txt; echo done' }
  const { id: agent_id } = await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const { id: task_id } = await client.call('tasks.create', { project_id: project.id, title: 'Add one' })
  const { workspace } = await client.call('tasks.claim', { task_id, agent_id })
  await expect
    .poll(() => client.call('tasks.get', { task_id }), { timeout: 80_000 })
    .toMatchObject({ status: 'review', review_passed_at: expect.any(String), entry_barrier: false })
  await page.reload()
  await openProject('Late')
  await openTask('Add one', 'Review')
  await writeFile(join(workspace?.path ?? '', 'late.txt'), 'later\n')
  await panel.getByRole('button', { name: 'Merge into main' }).first().click()
  await page.getByRole('button', { name: 'Look at the changes' }).click()
  await panel.getByTitle('late.txt').first().waitFor()
  expect((await client.call('tasks.get', { task_id })).status).toBe('review')
  await panel.getByRole('tab', { name: /Review/ }).click()
  await panel.getByRole('button', { name: 'Merge into main' }).first().click()
  await panel.getByText(/Merged into main/).waitFor()
  expect(await repository.git(['show', 'main:late.txt'])).toBe('later')
})

test('renders the visible ones of thousands of files, and shows huge ones on request', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { client, panel, page, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Large', repo_path: repository.path })
  const command = [
    'seq 1 200000 > numbers.txt; echo small > small.txt; mkdir many',
    'for n in $(seq 1000 2999); do echo $n > many/$n.txt; done',
    "head -c 5000000 /dev/zero | tr '\\0' x > line.txt",
    'git add -A; git commit -qm Numbers; echo done',
  ].join('; ')
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Count' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await expect
    .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'review' })
  await page.reload()
  await openProject('Large')
  await openTask('Count', 'Files')
  await panel.getByText('2 files with more than 1 MB of changes.', { exact: false }).waitFor()
  const tree = panel.getByRole('navigation', { name: 'Changed files' })
  const current = tree.locator('[aria-current="true"]')
  await tree.getByText('0 of 2003 viewed').waitFor()
  expect(await tree.getByRole('button').count()).toBeLessThan(100)

  // One tab stop, from which arrows continue and open or close folders.
  await tree.getByRole('textbox', { name: 'Filter files' }).press('ArrowDown')
  const folder = tree.getByRole('button', { name: 'many', exact: true })
  await expect.poll(() => folder.evaluate((row) => row === row.ownerDocument.activeElement)).toBe(true)
  expect(await tree.locator('button[tabindex="0"]').count()).toBe(1)
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => tree.locator('button[tabindex]').count()).toBe(4)
  await page.keyboard.press('ArrowRight')
  await tree.getByTitle('many/1000.txt').waitFor()
  await page.keyboard.press('End')
  await expect.poll(() => focusedTitle(page)).toBe('small.txt')
  await page.keyboard.press('Enter')
  await panel.getByRole('checkbox', { name: 'Viewed small.txt' }).waitFor()
  expect(await panel.getByRole('checkbox', { name: /^Viewed/ }).count()).toBeLessThan(60)

  // Back over the whole change: to the files, and to the previous change.
  await page.keyboard.press('[')
  await expect.poll(() => current.getAttribute('title')).toBe('numbers.txt')
  await page.keyboard.press('p')
  await expect.poll(() => current.getAttribute('title')).toBe('many/2999.txt')
  await page.keyboard.press(']')
  await expect.poll(() => current.getAttribute('title')).toBe('line.txt')

  const bar = (path: string) => panel.locator('.fh').filter({ has: page.getByTitle(path, { exact: true }) })
  await bar('line.txt').getByText('Too large: over 1 MB of changes').waitFor()
  await bar('line.txt').getByRole('button', { name: 'Show anyway' }).press('Enter')
  await panel.getByText('… 4,990,000 more characters').waitFor()
  await expect.poll(() => focusedLabel(page)).toBe('Differences')
  await page.keyboard.press(']')
  await bar('numbers.txt').getByRole('button', { name: 'Show anyway' }).click()
  await bar('numbers.txt').getByText('Too large').waitFor({ state: 'detached' })

  // A scroll draws many lines at once and seldom, and shows none too late.
  await panel.getByRole('region', { name: 'Differences' }).hover()
  await page.evaluate(countDrawings)
  for (let step = 0; step < 30; step++) {
    await page.mouse.wheel(0, 40)
    await page.evaluate('new Promise(requestAnimationFrame)')
    expect(await page.evaluate(isLineAtEnd)).toBe(true)
  }
  expect(await page.evaluate('globalThis.drawings')).toBeLessThan(6)
  await panel.getByText('17', { exact: true }).first().waitFor()

  // In the pause, lines are drawn far ahead of where the scroll went, and back as soon as it goes back.
  await expect.poll(() => page.evaluate<number>(drawnBelow)).toBeGreaterThan(850)
  await page.mouse.wheel(0, 4_000)
  await expect.poll(() => page.evaluate<number>(drawnBelow)).toBeGreaterThan(850)
  await page.mouse.wheel(0, -40)
  await expect.poll(() => page.evaluate<number>(drawnBelow)).toBeLessThan(400)
  expect(await page.evaluate(isLineAtEnd)).toBe(true)
})

/** By how many pixels lines are drawn beyond the end of what is visible. */
const drawnBelow = `(() => {
  const view = document.querySelector('[aria-label="Differences"]').getBoundingClientRect()
  const lines = [...document.querySelectorAll('diffs-container')].flatMap((one) => [...one.shadowRoot.querySelectorAll('[data-line]')])
  return Math.max(...lines.map((line) => line.getBoundingClientRect().bottom)) - view.bottom
})()`

const focusedLabel = (page: Page) => page.evaluate<string | null>("document.activeElement.getAttribute('aria-label')")
const schemeOf = (element: Locator) => element.evaluate((node) => getComputedStyle(node as Element).colorScheme)
const focusedTitle = (page: Page) => page.evaluate<string | null>("document.activeElement.getAttribute('title')")

/** Comments on two lines of a file, answers, and undoes a deletion. */
async function commentByKeyboard(page: Page, panel: Locator): Promise<void> {
  const differences = panel.getByRole('region', { name: 'Differences' })
  await differences.focus()
  await page.keyboard.press('n')
  // In a browser, which may be on another machine, a line is copied in the form of editors and terminals.
  await page.keyboard.press('o')
  await page.getByText(/^Copied src\/\w+\.ts:1$/).waitFor()
  await page.keyboard.press('Shift+F10')
  const menu = page.getByRole('menu', { name: /^Actions of line 1 of src/ })
  await menu.getByRole('menuitem', { name: 'Comment on line 1' }).waitFor()
  await menu.getByRole('menuitem', { name: 'Copy path and line' }).waitFor()
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'hidden' })
  await expect.poll(() => differences.evaluate((region) => region === region.ownerDocument.activeElement)).toBe(true)
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Enter')
  await page.keyboard.type('Why all of them?')
  const place = await panel.getByRole('textbox', { name: /^Comment on lines/ }).getAttribute('aria-label')
  // The event arrives before the answer, and must not move a person who has moved on.
  const answered = Promise.withResolvers<void>()
  const late = async (route: Route) => {
    const response = await route.fetch()
    await answered.promise
    await route.fulfill({ response })
  }
  await page.route(/\/comments$/, late, { times: 1 })
  await page.keyboard.press('Control+Enter')
  const thread = panel.getByRole('article', { name: 'Comment by You' })
  await thread.getByText('Lines', { exact: false }).waitFor()
  await thread.getByRole('button', { name: 'Reply' }).click()
  await page.keyboard.type('Or only ')
  answered.resolve()
  await panel.getByRole('textbox', { name: /^Comment on lines/ }).waitFor({ state: 'detached' })
  await page.keyboard.type('some?')
  await page.keyboard.press('Control+Enter')
  await thread.getByText('Or only some?').waitFor()
  // An unsent change stays, whatever else is opened.
  await thread.getByRole('button', { name: 'Edit the comment' }).first().click()
  const edited = thread.getByRole('textbox', { name: 'Edit the comment' })
  await edited.fill('Why all of these?')
  await panel.getByRole('tab', { name: 'Activity' }).click()
  await panel.getByRole('tab', { name: /^Changes/ }).click()
  await panel
    .getByTitle(place?.split(' of ').at(-1) ?? '')
    .first()
    .click()
  await expect.poll(() => edited.inputValue()).toBe('Why all of these?')
  await edited.press('Control+Enter')
  await thread.getByText('Why all of these?').waitFor()
  await thread.getByRole('button', { name: 'Delete the comment' }).last().click()
  await thread.getByText('Or only some?').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await thread.getByText('Or only some?').waitFor()
  await panel.getByText('1 unresolved').waitFor()
}

/** The distance of a file's bar from the top of the page. */
async function topOf(page: Page, path: string): Promise<number> {
  const box = await page.getByRole('checkbox', { name: `Viewed ${path}` }).boundingBox()
  return box?.y ?? Number.NaN
}

/** Counts the frames in which lines come into the diff. */
const countDrawings = `{
  let drawn = false
  const seen = () => {
    if (drawn) return
    drawn = true
    globalThis.drawings++
    requestAnimationFrame(() => (drawn = false))
  }
  globalThis.drawings = 0
  for (const file of document.querySelectorAll('diffs-container'))
    new MutationObserver(seen).observe(file.shadowRoot, { childList: true, subtree: true })
}`

const isLineAtEnd = `{
  const end = document.querySelector('[aria-label="Differences"]').getBoundingClientRect().bottom - 1
  const lines = [...document.querySelectorAll('diffs-container')].flatMap((file) => [...file.shadowRoot.querySelectorAll('[data-line]')])
  lines.some((line) => line.getBoundingClientRect().top <= end && line.getBoundingClientRect().bottom >= end)
}`
