import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const columns = 200
const cards = 10_000
const perPage = 200
const card = (page: Page, title: string) => page.locator('[data-card]').filter({ hasText: title })
const count = (page: Page) => page.locator('[data-card]').count()
/** By how much the page is wider than its window. */
const overflow = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')

test('renders only the visible part of two hundred columns and ten thousand cards', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(
    await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' }),
    service,
  )
  const project = await client.call('projects.create', { name: 'Wide', repo_path: repository.path })
  const workflow_definition = JSON.stringify(longWorkflow())
  await client.call('projects.update', { project_id: project.id, workflow_definition })
  const sample = await client.call('tasks.create', { project_id: project.id, title: 'Sample' })
  // The service would need a minute to save so many; this tests the page only.
  const many = Array.from({ length: cards }, (_, index) => manyOf(sample, index))
  await page.route(/\/first_screen$/, (route) => route.abort())
  await page.route(/\/projects\/[^/]+\/board$/, (route) => {
    const counts = Object.fromEntries(
      Map.groupBy(many, ({ status }) => status)
        .entries()
        .map(([state, all]) => [state, all.length]),
    )
    return route.fulfill({ json: { items: many.slice(0, 3 * (columns - 1)), counts } })
  })
  const rest = Promise.withResolvers<undefined>()
  await page.route(/\/projects\/[^/]+\/tasks\?/, async (route) => {
    await rest.promise
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
    const to = from + perPage
    const items = many.slice(from, to)
    const has_more = to < cards
    return route.fulfill({ json: { items, has_more, next_cursor: has_more ? String(to) : null } })
  })
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByText('Wide').click()

  const board = page.getByRole('region', { name: 'Board' })
  await card(page, 'Card 0').first().waitFor()
  // The last column is collapsed, because nothing is finished.
  await expect.poll(() => board.getByRole('heading', { level: 2 }).count()).toBe(columns - 1)
  await board.getByRole('region', { name: /, 0 tasks, collapsed$/ }).waitFor()
  // During the load, columns show how many tasks they will have, and keys work on loaded ones.
  const first = board.getByRole('region', { name: 'State 0, 51 tasks' })
  await first.getByText('Loading 48 more').waitFor()
  expect(await first.locator('[data-card]').count()).toBe(3)
  await card(page, 'Card 0').first().focus()
  await page.keyboard.press('j')
  await expect.poll(() => page.evaluate('document.activeElement.dataset.card')).toBe(manyOf(sample, columns - 1).id)
  rest.resolve(undefined)
  await first.getByText(/Loading [0-9,]+ more/).waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.dataset.card')).toBe(manyOf(sample, columns - 1).id)
  expect(await count(page)).toBeLessThan(1_200)
  // By keyboard to the right, and by pointer to the end.
  await card(page, 'Card 0').first().focus()
  for (let step = 0; step < 9; step++) await page.keyboard.press('l')
  await expect.poll(() => page.evaluate('document.activeElement.dataset.card')).toBe(manyOf(sample, 9).id)
  await page.evaluate(`document.querySelector('[aria-label="Board"]').scrollLeft = 1_000_000`)
  await board
    .getByRole('region', { name: `State ${columns - 2},` })
    .locator('[data-card]')
    .first()
    .waitFor()
  expect(await count(page)).toBeLessThan(1_200)

  await page.keyboard.press('Control+b')
  const table = page.getByRole('table')
  await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(cards + columns))
  await table.getByRole('button', { name: 'Title' }).click()
  await table.getByRole('button', { name: 'Title' }).click()
  await expect.poll(() => page.locator('[data-card]').first().textContent()).toBe('Card 996')
  await page.evaluate(`document.querySelector('[aria-label="Tasks"]').scrollTop = 1_000_000`)
  await page.getByRole('link', { name: 'Card 0', exact: true }).waitFor()
  // The scroll position survives a visit to another screen.
  await page.getByRole('navigation', { name: 'Main' }).getByText('Inbox').click()
  await table.waitFor({ state: 'detached' })
  await page.getByRole('navigation', { name: 'Main' }).getByText('Wide').click()
  await page.getByRole('link', { name: 'Card 0', exact: true }).waitFor()
  expect(await count(page)).toBeLessThan(100)
  await page.keyboard.press('/')
  await page.keyboard.type('card 7777')
  await page.getByText('1 of 10,000 tasks').waitFor()
  await expect.poll(() => count(page)).toBe(1)
})

test('keeps extreme titles within their cards, at every zoom', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel } = await openLocally(
    await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' }),
    service,
  )
  const project = await client.call('projects.create', { name: 'Odd '.repeat(20).trim(), repo_path: repository.path })
  const make = (title: string, labels: string[] = []) =>
    client.call('tasks.create', { project_id: project.id, title, labels, status: 'todo' })
  await expect(make('x'.repeat(10_000))).rejects.toMatchObject({ code: 'validation_failed' })
  const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script> **bold** {{ 1 + 1 }}'
  await make('W'.repeat(500), ['l'.repeat(50), 'm'.repeat(50)])
  await make('إصلاح تسجيل الدخول في صفحة المستخدم')
  await make('👩‍👩‍👧‍👦🏳️‍🌈'.repeat(40))
  await make(markup)
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByText('Odd').click()
  await card(page, 'onerror').waitFor()

  expect(await card(page, 'onerror').textContent()).toContain(markup)
  expect(await page.locator('[data-card] img').count()).toBe(0)
  const direction = `getComputedStyle([...document.querySelectorAll('[data-card] [dir=auto]')]
    .find((title) => title.textContent.includes('إصلاح'))).direction`
  expect(await page.evaluate(direction)).toBe('rtl')
  const inside = `[...document.querySelectorAll('[data-card]')].every((card) =>
    [card, ...card.querySelectorAll('*')].every((part) =>
      part.getBoundingClientRect().right <= card.closest('section').getBoundingClientRect().right + 1))`
  // A common window, the smallest supported one, and the first at twice the size.
  for (const [width, height] of [
    [1440, 900],
    [1024, 700],
    [720, 450],
  ] as const) {
    await page.setViewportSize({ width, height })
    expect([width, await page.evaluate(inside), await overflow(page)]).toEqual([width, true, 0])
    await page.getByRole('button', { name: 'New task', exact: true }).click({ trial: true })
    await page.getByRole('button', { name: 'List' }).click()
    await page.getByRole('table').waitFor()
    expect([width, await overflow(page)]).toEqual([width, 0])
    await page.getByRole('button', { name: 'Board' }).click()
  }
  await page.setViewportSize({ width: 1024, height: 700 })
  await card(page, 'WWW').click()
  await panel.waitFor()
  expect(await overflow(page)).toBe(0)
  // The form accepts nothing that the service would refuse.
  await page.keyboard.press('Escape')
  await page.keyboard.press('c')
  await page.getByLabel('Title').fill('t'.repeat(10_000))
  expect(await page.getByLabel('Title').inputValue()).toHaveLength(500)
})

/** States in a row, each in a column of its own. */
function longWorkflow() {
  const name = (index: number) => (index === columns - 1 ? 'over' : `s${index}`)
  const kindOf = (index: number) => (index === 0 ? 'initial' : index === columns - 1 ? 'terminal' : 'custom')
  return {
    states: Array.from({ length: columns }, (_, index) => ({
      name: name(index),
      label: `State ${index}`,
      column: `State ${index}`,
      kind: kindOf(index),
      transitions: index === columns - 1 ? [] : [{ to: name(index + 1), label: 'On' }],
    })),
  }
}

/** The sample as the n-th task, spread over all states but the last. */
function manyOf(sample: Task, index: number) {
  const id = `${sample.id.slice(0, 24)}${index.toString(16).padStart(12, '0')}`
  return { ...sample, id, title: `Card ${index}`, status: `s${index % (columns - 1)}`, position: cards - index }
}
