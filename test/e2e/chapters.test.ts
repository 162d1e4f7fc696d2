import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Chapters } from '../../src-shared/contract/chapters.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService, type BuiltService } from './harness/built-service.ts'
import { openLocally, type LocalPage } from './harness/local-page.ts'

const lines = (word: string) =>
  Array.from({ length: 60 }, (_, n) => `export const ${word}${n} = ${n}`).join('\n') + '\n'
const files = {
  'src/price.ts': lines('price'),
  'src/cart.ts': `import { price3 } from './price.ts'\n${lines('cart')}`,
  'docs/prices.md': '# Prices\n',
  'yarn.lock': '# lock\n',
}
const change = [
  's/price3 = 3$/price3 = 33/;s/price50 = 50/price50 = eval("50")/',
  's/cart7 = 7$/cart7 = price3/',
  's/Prices/All prices/',
  's/lock/locked/',
]
const command = [
  ...Object.keys(files).map((path, at) => `sed -i '${change[at] ?? ''}' ${path}`),
  'git commit -qam Prices; echo done',
].join('; ')

/** Opens the changes of a task whose agent has handed its work in. */
async function openChanges(service: BuiltService, page: Page) {
  const local = await openLocally(page, service)
  const { client } = local
  const repository = await createTestRepository({ files })
  const project = await client.call('projects.create', { name: 'Shop', repo_path: repository.path })
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Raise prices' })
  const { workspace } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await expect
    .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'review', review_passed_at: expect.any(String), entry_barrier: false })
  return { ...local, repository, task_id: task.id, path: workspace?.path ?? '' }
}

async function show({ page, openProject, openTask }: LocalPage): Promise<void> {
  await page.reload()
  await openProject('Shop')
  await openTask('Raise prices', 'Changes')
}

const parts = ({ panel }: Pick<LocalPage, 'panel'>) => ({
  list: panel.getByRole('navigation', { name: 'Chapters' }),
  head: panel.locator('header.head'),
  changes: panel.getByRole('region', { name: 'Differences' }),
})

async function shoot(page: Page, name: string): Promise<void> {
  const shots = process.env['COPSE_SHOTS']
  if (!shots) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: `${shots}/chapters-${name}-${colorScheme}.png` })
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

test('is read by keys alone, from the first chapter to the decision', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const local = await openChanges(service, await browser.newPage(checkedPage))
  await using _ = local.repository
  const { page, client, panel, task_id } = local
  await client.call('comments.create', {
    task_id,
    body: 'Why so much?',
    anchor: { path: 'src/price.ts', side: 'new', line: 4 },
  })
  await show(local)
  await page.keyboard.press('f')
  const { list, head, changes } = parts(local)
  await list.getByText('0 of 4 read').waitFor()
  await panel.getByRole('article', { name: 'Comment by You' }).getByText('Why so much?').waitFor()
  await changes.getByText('Text is run as a program.').waitFor()
  await panel.getByText('4 changes not read, 1 with a risk').first().waitFor()
  await shoot(page, 'first')
  expect(await violationsInThemes(page), 'a chapter').toEqual([])

  for (let read = 1; read <= 4; read += 1) {
    await page.keyboard.press('v')
    await list.getByText(`${read} of 4 read`).waitFor()
  }
  await panel.getByRole('heading', { name: 'All 4 changes read' }).waitFor()
  await shoot(page, 'end')
  expect(await violationsInThemes(page), 'the end').toEqual([])

  // The chapter before the end is folded: it says why, and opens.
  await page.keyboard.press('[')
  await head.getByText('Generated: yarn.lock').waitFor()
  await head.getByText('2 lines', { exact: false }).waitFor()
  await panel.getByRole('heading', { name: '1 change, 2 lines, folded' }).waitFor()
  await shoot(page, 'folded')
  await page.keyboard.press('z')
  await changes.getByText('# locked').waitFor()
  await page.keyboard.press('z')
  await changes.waitFor({ state: 'detached' })

  // A mark is taken back where the reader is; the next change that isn't read is found from anywhere.
  await page.keyboard.press('[')
  await page.keyboard.press('n')
  await page.keyboard.press('v')
  await list.getByText('3 of 4 read').waitFor()
  const title = (await head.getByRole('heading').textContent()) ?? ''
  await page.keyboard.press('[')
  await expect.poll(() => head.getByRole('heading').textContent()).not.toBe(title)
  await page.keyboard.press('u')
  await expect.poll(() => head.getByRole('heading').textContent()).toBe(title)
  await page.keyboard.press('v')
  await panel.getByRole('heading', { name: 'All 4 changes read' }).waitFor()

  // The files are one key away, with the same marks, and stay chosen.
  await page.keyboard.press('b')
  const tree = panel.getByRole('navigation', { name: 'Changed files' })
  await tree.getByText('3 of 4 viewed').waitFor()
  await show(local)
  await tree.getByText('3 of 4 viewed').waitFor()
  await page.keyboard.press('b')
  await list.getByText('4 of 4 read').waitFor()
  const [comment] = (await client.call('comments.list', { task_id })).items
  await client.call('comments.update', { comment_id: comment?.id ?? '', resolved: true })
  await page.keyboard.press('r')
  await panel.getByRole('region', { name: 'Your decision' }).getByText('All 4 changes read').waitFor()
  await page.keyboard.press('Shift+m')
  await panel.getByText(/Merged into main/).waitFor()
})

test('keeps marks in all windows of a person, and takes those of changed lines alone', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const local = await openChanges(service, await browser.newPage(checkedPage))
  await using _ = local.repository
  const { page, client, panel, task_id, path } = local
  await show(local)
  // A window that is opened by another continues its session.
  const [other] = await Promise.all([
    page.context().waitForEvent('page'),
    page.evaluate('void window.open(location.href)'),
  ])
  const [here, there] = [parts(local), parts({ panel: other.locator('[data-task-panel]') })]
  await there.list.getByText('0 of 4 read').waitFor()
  await here.list.getByText('0 of 4 read').waitFor()
  for (let read = 1; read <= 4; read += 1) {
    await page.keyboard.press('v')
    await there.list.getByText(`${read} of 4 read`).waitFor()
  }
  await page.keyboard.press('[')
  await page.keyboard.press('[')
  const title = (await here.head.getByRole('heading').textContent()) ?? ''

  const price = join(path, 'src/price.ts')
  await writeFile(price, (await readFile(price, 'utf8')).replace('price3 = 33', 'price3 = 34'))
  await here.list.getByText('3 of 4 read').waitFor()
  await there.list.getByText('3 of 4 read').waitFor()
  await panel
    .getByText('The work changed while you were reading. 1 change is new or different', { exact: false })
    .waitFor()
  expect(await here.head.getByRole('heading').textContent()).toBe(title)
  await shoot(page, 'changed')
  await page.keyboard.press('u')
  await here.changes.getByText('Changed while you were reading').waitFor()
  await here.changes.getByRole('checkbox', { name: 'Read src/price.ts, line 4', checked: false }).waitFor()
  expect(await violationsInThemes(page), 'a changed chapter').toEqual([])
  const hunks = (await client.call('tasks.chapters', { task_id })).chapters.flatMap((one) => one.hunks)
  expect(hunks.filter(({ viewed }) => !viewed).map((one) => `${one.path}:${one.new[0]}`)).toEqual([
    'src/price.ts:4',
    'yarn.lock:1',
  ])
  await show(local)
  await here.list.getByText('3 of 4 read').waitFor()
  await here.changes.getByRole('checkbox', { name: 'Read src/price.ts, line 4' }).click()
  await there.list.getByText('4 of 4 read').waitFor()
})

test('shows files while chapters are prepared, and keeps who has begun with them there', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const local = await openChanges(service, await browser.newPage(checkedPage))
  await using _ = local.repository
  const { page, client, panel, task_id, path } = local
  const { list } = parts(local)
  const tree = panel.getByRole('navigation', { name: 'Changed files' })
  /** The answers of a service that needs longer for a larger change. */
  const isPending = async (route: Route) => {
    const response = await route.fetch()
    const told = (await response.json()) as Chapters
    await route.fulfill({ response, json: { ...told, source: 'files', pending: true, risks: [] } })
  }
  // Once they are known here, no event tells of their end.
  await expect.poll(async () => (await client.call('tasks.chapters', { task_id })).pending).toBe(false)
  await page.route(/\/chapters$/, isPending)
  await show(local)
  await panel.getByText('Preparing the chapters.', { exact: false }).waitFor()
  await page.keyboard.press(']')
  await tree.locator('[aria-current="true"]').waitFor()
  await page.unroute(/\/chapters$/, isPending)
  await writeFile(join(path, 'docs/more.md'), 'More\n')
  await panel.getByText('The chapters are ready.').waitFor()
  await tree.getByText('0 of 5 viewed').waitFor()
  await panel.getByRole('button', { name: 'Show chapters' }).click()
  await list.getByText('0 of 5 read').waitFor()

  // Who hasn't begun sees them as soon as they are ready.
  await page.route(/\/chapters$/, isPending)
  await page.reload()
  await panel.getByText('Preparing the chapters.', { exact: false }).waitFor()
  await page.unroute(/\/chapters$/, isPending)
  await writeFile(join(path, 'docs/more.md'), 'More of it\n')
  await list.getByText('0 of 5 read').waitFor()
})

test('is a chapter a page on a phone', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const phone = { ...checkedPage, viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
  const local = await openChanges(service, await browser.newPage(phone))
  await using _ = local.repository
  const { page, client, panel, task_id } = local
  const { project_id } = await client.call('tasks.get', { task_id })
  await page.reload()
  await page.evaluate(`location.hash = '#/p/${project_id}/t/${task_id}/changes'`)
  const { list, head, changes } = parts(local)
  await head.getByText('Chapter 1 of 3').waitFor()
  await changes.getByRole('checkbox', { name: 'Read src/price.ts, line 4' }).waitFor()
  await shoot(page, '360')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  expect(await violationsInThemes(page), 'phone').toEqual([])
  await head.getByRole('button', { name: 'Next chapter' }).click()
  await head.getByText('Chapter 2 of 3').waitFor()
  await list.waitFor({ state: 'detached' })
  await panel.getByRole('button', { name: '3 chapters' }).click()
  await list.getByText('Decision').waitFor()
  await shoot(page, '360-list')
  expect(await violationsInThemes(page), 'list on a phone').toEqual([])
  await list.getByRole('button', { name: /^Decision/ }).click()
  await panel.getByRole('heading', { name: '4 changes not read, 1 with a risk' }).waitFor()
  await panel.getByRole('button', { name: 'Next change not read' }).click()
  await panel.getByRole('region', { name: 'Differences' }).waitFor()
})
