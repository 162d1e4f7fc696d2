import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeAskingClaude, type ClaudeRequest } from '../helpers/asking-claude.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService, type BuiltService } from './harness/built-service.ts'
import { keyboardOf } from './harness/keyboard.ts'
import { openLocally, type LocalPage } from './harness/local-page.ts'

const options = [
  { label: 'Blue', description: 'Calm' },
  { label: 'Red', description: 'Loud' },
]
const requests = [
  { tool_name: 'Bash', input: { command: 'npm publish --tag next\recho harmless' } },
  { tool_name: 'Edit', input: { file_path: '/elsewhere/a.ts', old_string: 'old words', new_string: 'new words' } },
  { tool_name: 'AskUserQuestion', input: { questions: [{ question: 'Which colour?', options }] } },
  { tool_name: 'AskUserQuestion', input: { questions: [{ question: 'Which ones?', multiSelect: true, options }] } },
]

let service: BuiltService
let browser: Browser
let local: LocalPage
beforeAll(async () => {
  service = await startBuiltService({ as: 'local' })
  browser = await launchChromium()
  local = await openLocally(await browser.newPage(checkedPage), service)
})
afterAll(async () => {
  await browser.close()
  await service[Symbol.asyncDispose]()
})

test('shows an agent’s question on card and transcript, and answers it by keyboard alone', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  const { page, client, panel, openProject } = local
  const keys = keyboardOf(page)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const config = { command: await writeAskingClaude(service.dataDir, requests), permissions: 'worktree' } as const
  const agent = await client.call('agents.create', { name: 'Asker', executor: 'claude-code', config })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Publish it' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })

  // The page is opened after the question.
  await page.reload()
  await openProject('ferry')
  const card = page.locator('[data-card]').filter({ hasText: 'Publish it' })
  const onCard = page
    .getByRole('listitem')
    .filter({ has: card })
    .getByRole('region', { name: /Wants to run npm publish/ })
  // Characters that would hide the rest of the line are escaped.
  await onCard.getByText('npm publish --tag next\\u{d}echo harmless').waitFor()
  expect(await violationsInThemes(page), 'a command on its card').toEqual([])
  // In the list it stands below its row.
  await page.keyboard.press('Control+b')
  const inList = page.getByRole('table').getByRole('region', { name: /Wants to run npm publish/ })
  await inList.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  expect(await violationsInThemes(page), 'a command in the list').toEqual([])
  await page.keyboard.press('Control+b')
  await onCard.waitFor()
  await card.click()
  await panel.getByRole('tab', { name: /^Agent.*is waiting for your answer/ }).click()

  const asked = async () => {
    const { items } = await client.call('tasks.executions', { task_id: task.id })
    return items[0]?.asks?.map(({ text }) => text)
  }
  const ask = (name: RegExp) => panel.getByRole('region', { name })
  const command = ask(/Wants to run npm publish/)
  await command.getByText('npm publish --tag next\\u{d}echo harmless').waitFor()
  expect(await violationsInThemes(page), 'a command').toEqual([])
  // It is said once, and what waits for an answer doesn't look as if it ran.
  expect(await page.getByText('npm publish').count()).toBe(1)
  await panel.getByText('Waiting for you').waitFor()
  expect(await panel.getByText('No output yet').count()).toBe(0)
  expect(await panel.locator('.panebar, [role="log"]').getByLabel('Running').count()).toBe(0)
  // By digit the reason is asked for; until it is sent nothing is denied.
  await keys.on(panel)
  // A press so early after the box was shown would be refused: no one has read it yet.
  await command.getByRole('button', { name: 'Deny…', disabled: false }).waitFor()
  await keys.press('3')
  await keys.on(command.getByLabel('Why you deny it'))
  await keys.type('Not before Friday.')
  // A draft stays, even after another tab was open.
  await panel.getByRole('tab', { name: 'Overview' }).click()
  await panel.getByRole('tab', { name: /^Agent/ }).click()
  expect(await command.getByLabel('Why you deny it').inputValue()).toBe('Not before Friday.')
  await command.getByRole('button', { name: 'Deny', exact: true, disabled: false }).focus()
  // A press that arrives as the next question replaces this one answers nothing.
  const pressed = page.evaluate(pressAtOnce('/elsewhere/a.ts', 'Allow'))
  await page.keyboard.press('Enter')
  await pressed

  const edit = ask(/Asks to change \/elsewhere\/a\.ts/)
  await edit.getByRole('group', { name: 'Change of /elsewhere/a.ts' }).getByText('new').first().waitFor()
  expect(await edit.getByLabel('Why you deny it').count()).toBe(0)
  await edit.getByRole('button', { name: 'Allow', exact: true, disabled: false }).focus()
  expect(await asked()).toEqual([expect.stringContaining('/elsewhere/a.ts')])
  await page.keyboard.press('Enter')

  const colour = ask(/Which colour\?/)
  await colour.getByText('Loud').waitFor()
  expect(await violationsInThemes(page), 'a question').toEqual([])
  await colour.getByLabel('Your own answer to Asker').focus()
  await page.keyboard.type('Green')
  await page.keyboard.press('Enter')

  const several = ask(/Which ones\?/)
  await several.getByRole('checkbox', { name: /Red/ }).focus()
  await page.keyboard.press('Space')
  await several.getByRole('button', { name: 'Answer', disabled: false }).focus()
  await page.keyboard.press('Enter')

  const said = 'Answered: deny (A person refused this: Not before Friday.) allow'
  await panel.getByText(said).first().waitFor()
  await panel.getByText(/Deny: Not before Friday\./).waitFor()
  await several.waitFor({ state: 'detached' })
  // After an answer by keyboard the focus is on what follows.
  await keys.on(panel.getByRole('textbox', { name: 'Message to Asker' }))
  const summary = async () => (await client.call('tasks.executions', { task_id: task.id })).items[0]?.summary ?? ''
  await expect.poll(summary).toContain('{"Which colour?":"Green"} allow{"Which ones?":"Red"}')
})

test('ten agents ask in one second, and ten keys answer them all, each its own', async () => {
  await using repository = await createTestRepository({ name: 'ten' })
  const { page, client, panel, openProject } = local
  const keys = keyboardOf(page)
  const project = await client.call('projects.create', { name: 'ten', repo_path: repository.path })
  await client.call('projects.update_settings', { project_id: project.id, max_concurrent_executions: 10 })
  const numbers = Array.from({ length: 10 }, (_, index) => index + 1)
  const taskIds = await Promise.all(
    numbers.map(async (number) => {
      const folder = join(service.dataDir, `asker-${number}`)
      await mkdir(folder)
      const labels = ['first', 'second', 'third'].map((label) => ({ label: `${label} of ${number}` }))
      const question = { tool_name: 'AskUserQuestion', input: { questions: [{ question: 'Which?', options: labels }] } }
      const command: ClaudeRequest = { tool_name: 'Bash', input: { command: `deploy --stage ${number}` } }
      const config = {
        command: await writeAskingClaude(folder, [number % 2 === 0 ? question : command]),
        permissions: 'worktree',
      } as const
      const agent = await client.call('agents.create', { name: `Asker ${number}`, executor: 'claude-code', config })
      const task = await client.call('tasks.create', { project_id: project.id, title: `Job ${number}` })
      await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
      return task.id
    }),
  )
  await openProject('ten')
  const boxes = page.locator('[data-card-frame]').getByRole('region')
  await expect.poll(() => boxes.count(), { timeout: 80_000 }).toBe(10)

  const given = new Map<number, number>()
  const focusedNumber = () =>
    page.evaluate<number>(`Number(document.activeElement?.textContent?.match(/Job (\\d+)/)?.[1])`)
  let presses = 0
  await keys.press('Shift+N')
  for (let left = 10; left > 0; left--) {
    await expect.poll(focusedNumber).toSatisfy((number) => number > 0 && !given.has(number))
    const number = await focusedNumber()
    const digit = number % 2 === 0 ? (number / 2) % 3 : 0
    // A press so early after the last one would be refused: no one has read this yet.
    const options = page.locator(`[data-card-frame]:has(:focus)`).getByRole('group', { name: 'Answers' })
    await expect.poll(() => options.getByRole('button', { disabled: false }).count()).toBe(3)
    given.set(number, digit)
    presses += 1
    await keys.press(String(digit + 1))
    await expect.poll(() => boxes.count()).toBe(left - 1)
  }
  expect(presses).toBe(10)
  expect(await panel.count(), 'nothing had to be opened').toBe(0)
  for (const [index, task_id] of taskIds.entries()) {
    const number = index + 1
    const label = ['first', 'second', 'third'][given.get(number) ?? 0]
    const answer = number % 2 === 0 ? `Answered: allow{"Which?":"${label} of ${number}"}` : 'Answered: allow'
    const summary = async () => (await client.call('tasks.executions', { task_id })).items[0]?.summary
    await expect.poll(summary, { timeout: 80_000 }).toBe(answer)
  }
})

/** Presses a button as soon as the heading contains these words; resolves once pressed. */
const pressAtOnce = (words: string, name: string) => `new Promise((pressed) => {
  const observer = new MutationObserver(() => {
    const box = [...document.querySelectorAll('section.ask')].find((section) => section.textContent.includes('${words}'))
    const button = box && [...box.querySelectorAll('button')].find((one) => one.textContent.trim().endsWith('${name}'))
    if (!button) return
    observer.disconnect()
    button.click()
    pressed()
  })
  observer.observe(document.body, { childList: true, subtree: true, characterData: true })
})`
