import { expect, test } from 'vitest'
import { writeAskingClaude } from '../helpers/asking-claude.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { keyboardOf } from './harness/keyboard.ts'
import { openLocally } from './harness/local-page.ts'

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

test('shows an agent’s question on card and transcript, and answers it by keyboard alone', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage(checkedPage), service)
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
  await card.getByText('Wants to run npm publish').waitFor()
  await card.click()
  await panel.getByRole('tab', { name: /^Agent.*is waiting for your answer/ }).click()

  const asked = async () => {
    const { items } = await client.call('tasks.executions', { task_id: task.id })
    return items[0]?.asks?.map(({ text }) => text)
  }
  const ask = (name: RegExp) => panel.getByRole('region', { name })
  const command = ask(/Wants to run npm publish/)
  // Characters that would hide the rest of the line are escaped.
  await command.getByText('npm publish --tag next\\u{d}echo harmless').waitFor()
  expect(await violationsInThemes(page), 'a command').toEqual([])
  await command.getByLabel('Why you deny it').fill('Not before Friday.')
  // A draft stays, even after another tab was open.
  await panel.getByRole('tab', { name: 'Overview' }).click()
  await panel.getByRole('tab', { name: /^Agent/ }).click()
  expect(await command.getByLabel('Why you deny it').inputValue()).toBe('Not before Friday.')
  await command.getByRole('button', { name: 'Deny', disabled: false }).focus()
  // A press that arrives as the next question replaces this one answers nothing.
  const pressed = page.evaluate(pressAtOnce('/elsewhere/a.ts', 'Allow'))
  await page.keyboard.press('Enter')
  await pressed

  const edit = ask(/Asks to change \/elsewhere\/a\.ts/)
  await edit.getByRole('group', { name: 'Change of /elsewhere/a.ts' }).getByText('new').first().waitFor()
  expect(await edit.getByLabel('Why you deny it').inputValue()).toBe('')
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
  await several.getByRole('button', { name: 'Answer' }).focus()
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

/** Presses a button as soon as the heading contains these words; resolves once pressed. */
const pressAtOnce = (words: string, name: string) => `new Promise((pressed) => {
  const observer = new MutationObserver(() => {
    const box = [...document.querySelectorAll('section.ask')].find((section) => section.textContent.includes('${words}'))
    const button = box && [...box.querySelectorAll('button')].find((one) => one.textContent.trim() === '${name}')
    if (!button) return
    observer.disconnect()
    button.click()
    pressed()
  })
  observer.observe(document.body, { childList: true, subtree: true, characterData: true })
})`
