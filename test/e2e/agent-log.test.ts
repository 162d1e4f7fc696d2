import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

/** One painted frame of the log. */
interface Frame {
  readonly toEnd: number
  /** The lowest visible line. */
  readonly last: string
}

/** Records what every frame shows of the log, once it shows anything. */
const watchFrames = `
  window.frames_ = []
  const look = () => {
    const log = document.querySelector('[role="log"]')
    if (log && log.scrollHeight > log.clientHeight + 40) {
      const box = log.getBoundingClientRect()
      const seen = [...log.querySelectorAll('.ln')].filter((line) => {
        const { top, bottom } = line.getBoundingClientRect()
        return bottom > box.top && top < box.bottom && line.textContent.trim() !== ''
      })
      const last = seen.at(-1)?.textContent ?? ''
      window.frames_.push({ toEnd: log.scrollHeight - log.scrollTop - log.clientHeight, last })
    }
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)`
/** The log's own scroll container. */
const nested = `[...document.querySelectorAll('[role="log"] *')].filter((one) =>
  ['auto', 'scroll'].includes(getComputedStyle(one).overflowY)).length`

test('shows a command’s log as one virtual list, at its end from the first frame', async () => {
  await using repository = await createTestRepository({ name: 'ferry', files: { 'a.txt': 'one\n' } })
  const gate = await mkdtemp(join(tmpdir(), 'copse-log-'))
  try {
    await using service = await startBuiltService({ as: 'local' })
    await using browser = await launchChromium()
    const { page, client, panel, openProject } = await openLocally(await browser.newPage(checkedPage), service)
    const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
    // Quiet after its first lines, like a build.
    const command = `seq -f 'compiled file %g' 3000; echo 'quiet now'; until [ -e "${gate}/go" ]; do sleep 0.05; done; echo 'the very last'; until [ -e "${gate}/end" ]; do sleep 0.05; done`
    const agent = await client.call('agents.create', { name: 'Slowpoke', executor: 'command', config: { command } })
    const task = await client.call('tasks.create', { project_id: project.id, title: 'Build it' })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    await page.reload()
    await openProject('ferry')
    const card = page.locator('[data-card]').filter({ hasText: 'Build it' })
    await card.getByText('quiet now').waitFor()

    await page.evaluate(watchFrames)
    const log = panel.getByRole('log', { name: 'Transcript' })
    for (let opening = 0; opening < 5; opening++) {
      await card.click()
      await log.getByText('quiet now').waitFor()
      await page.keyboard.press('Escape')
      await panel.waitFor({ state: 'detached' })
    }
    const frames = await page.evaluate<Frame[]>('window.frames_')
    expect(frames.length).toBeGreaterThan(5)
    expect(frames.filter(({ toEnd, last }) => toEnd > 32 || last === '')).toEqual([])

    await card.click()
    await log.getByText('quiet now').waitFor()
    expect(await page.evaluate(nested)).toBe(0)
    expect(await log.locator('.ln').count()).toBeLessThan(800)
    expect(await violationsInThemes(page), 'a log').toEqual([])

    // A reader who scrolls up stays there, and returns by a button.
    await log.hover()
    await page.mouse.wheel(0, -4_000)
    const latest = panel.getByRole('button', { name: /Jump to latest/ })
    await latest.waitFor()
    await writeFile(join(gate, 'go'), '')
    await panel.getByRole('button', { name: 'Jump to latest 1 new' }).click()
    await log.getByText('the very last').waitFor()
    await latest.waitFor({ state: 'detached' })

    // A stop is shown once, with one next step, and others in its menu.
    await panel.getByRole('button', { name: 'Stop', exact: true }).click()
    await panel.getByText('Stopped. Your agent’s work is kept.').waitFor()
    const resume = panel.getByRole('button', { name: 'Resume' })
    await resume.waitFor()
    expect(await panel.getByText(/stopped|paused/i).count()).toBe(1)
    expect(await panel.getByRole('button', { name: /^Start/ }).count()).toBe(0)
    expect(await violationsInThemes(page), 'stopped').toEqual([])
    await panel.getByRole('button', { name: 'Other ways to continue' }).click()
    const ways = page.getByRole('menu', { name: 'Other ways to continue' }).getByRole('menuitem')
    expect(await ways.allInnerTexts()).toEqual([
      expect.stringContaining('Restart'),
      'Start with another agent…',
      expect.stringContaining('Start over…'),
    ])
    await ways.filter({ hasText: 'another agent' }).click()
    await page
      .getByRole('dialog', { name: /^Who/ })
      .getByRole('button', { name: /Slowpoke/ })
      .waitFor()
    await page.keyboard.press('Escape')
    await writeFile(join(gate, 'end'), '')
    await resume.click()
    await panel.getByRole('button', { name: /run 2 of 2/ }).waitFor()
    await panel.getByText('Stopped. Your agent’s work is kept.').waitFor({ state: 'detached' })

    // A toast is beside the rail and covers no input.
    await page.keyboard.press('f')
    await panel.getByRole('textbox', { name: 'Message to Slowpoke' }).waitFor()
    await page.keyboard.press('.')
    await page.getByRole('menuitem', { name: 'Copy id' }).click()
    const toast = page.locator('[data-sonner-toast]')
    await toast.waitFor()
    const places = async () => [await toast.boundingBox(), await panel.locator('form.compose').boundingBox()]
    await expect
      .poll(async () => {
        const [above, below] = await places()
        return above && below ? [above.x < 100, above.y + above.height <= below.y] : null
      })
      .toEqual([true, true])
  } finally {
    await rm(gate, { recursive: true, force: true })
  }
})

test('says in one sentence who failed and why, with the log and the next step', async () => {
  await using repository = await createTestRepository({ name: 'ferry', files: { 'a.txt': 'one\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const command = 'if grep -q two a.txt; then echo "nothing to commit"; exit 1; fi; echo two > a.txt'
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config: { command } })
  const review_config = { ci_steps: ['test -e missing.txt'] }
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Write it', review_config })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await page.reload()
  await openProject('ferry')
  const ended = async () => (await client.call('tasks.get', { task_id: task.id })).error_annotation?.type
  await expect.poll(ended, { timeout: 80_000 }).toBe('execution_failed')
  await page.locator('[data-card]').filter({ hasText: 'Write it' }).click()

  await panel.getByText('`test -e missing.txt` failed, then Writer failed: nothing to commit.').waitFor()
  await panel.getByRole('button', { name: 'Restart' }).waitFor()
  await expect.poll(() => panel.getByRole('button', { name: /^(Start|Restart)$/ }).allInnerTexts()).toEqual(['Restart'])
  expect(await violationsInThemes(page), 'failed').toEqual([])
  // A task that failed opens where its run ended.
  await panel.getByRole('tab', { name: 'Agent', selected: true }).waitFor()
  await panel.getByRole('log', { name: 'Transcript' }).getByText('nothing to commit', { exact: true }).waitFor()
  // The link leads here, so the note does not repeat it.
  expect(await panel.getByRole('button', { name: 'Show log' }).count()).toBe(0)
  expect(await panel.getByText('Writer failed').count()).toBe(1)
})

test('opens at the line that failed, of a run and of a check, and says when each line came', async () => {
  await using repository = await createTestRepository({ name: 'ferry', files: { 'a.txt': 'one\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const around = (line: string) => `seq -f 'step %g' 300; ${line}; seq -f 'cleaning %g' 300`
  const begin = async (title: string, command: string, ci_steps: string[]) => {
    const agent = await client.call('agents.create', { name: title, executor: 'command', config: { command } })
    const task = await client.call('tasks.create', { project_id: project.id, title, review_config: { ci_steps } })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    return task.id
  }
  const run = await begin('Broken run', `${around("echo 'error TS1005: a comma is missing'")}; exit 3`, [])
  const check = await begin('Broken check', 'echo two > a.txt', [`${around("echo 'FAIL cart.test.ts'")}; exit 1`])
  await page.reload()
  await openProject('ferry')
  const card = (title: string) => page.locator('[data-card]').filter({ hasText: title })

  const ended = async () => (await client.call('tasks.get', { task_id: run })).error_annotation?.type
  await expect.poll(ended, { timeout: 80_000 }).toBe('execution_failed')
  await card('Broken run').click()
  const log = panel.getByRole('log', { name: 'Transcript' })
  const line = log.locator('.ln').filter({ hasText: 'error TS1005' }).first()
  await expect.poll(() => inView(line, log)).toBe(true)
  expect(await log.locator('.ln[data-at]').first().getAttribute('data-at')).toMatch(/^\d\d:\d\d:\d\d$/)
  expect(await violationsInThemes(page), 'failed run').toEqual([])
  await panel.getByRole('button', { name: /Jump to latest/ }).click()
  await expect.poll(() => inView(line, log)).toBe(false)

  await page.keyboard.press('Escape')
  const failed = async () => (await client.call('tasks.reviews', { task_id: check })).items.map(({ status }) => status)
  await expect.poll(failed, { timeout: 80_000 }).toContain('failed')
  await card('Broken check').click()
  await panel.getByRole('tab', { name: /^Review/ }).click()
  const output = panel.getByLabel(/^Output of/).first()
  await expect.poll(() => inView(output.locator('.ln').filter({ hasText: 'FAIL cart' }), output)).toBe(true)
  expect(await violationsInThemes(page), 'failed check').toEqual([])
})

/** Whether an element is seen within its scroll container. */
async function inView(element: Locator, box: Locator): Promise<boolean> {
  if ((await element.count()) === 0) return false
  const [inner, outer] = [await element.boundingBox(), await box.boundingBox()]
  return inner !== null && outer !== null && inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height
}
