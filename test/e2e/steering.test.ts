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

type Pasted = { readonly file: number } | { readonly text: number }

/** Pastes a picture or text of this size; returns whether the page kept it out of the field. */
const paste = (field: Locator, what: Pasted) =>
  field.evaluate((element, given) => {
    const clipboardData = new DataTransfer()
    if ('file' in given) clipboardData.items.add(new File([new Uint8Array(given.file)], 'a.png', { type: 'image/png' }))
    else clipboardData.setData('text/plain', 'x'.repeat(given.text))
    return !element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, what)

test('queues, changes and delivers a message, and types into a terminal', async () => {
  await using repository = await createTestRepository({ name: 'ferry', files: { 'a.txt': 'one\n' } })
  const gate = await mkdtemp(join(tmpdir(), 'copse-steering-'))
  try {
    await using service = await startBuiltService({ as: 'local' })
    await using browser = await launchChromium()
    const { page, client, openProject } = await openLocally(await browser.newPage(checkedPage), service)
    const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
    const make = (name: string, config: { command: string; terminal?: boolean }) =>
      client.call('agents.create', { name, executor: 'command', config })
    const worker = await make('Worker', {
      command: `grep -q zero "$SVC_PROMPT_FILE" && echo "I read it" && exit 0; echo two > a.txt; until [ -e "${gate}/go" ]; do sleep 0.05; done; echo done`,
    })
    const shell = await make('Shell', {
      command: 'printf "Ready? "; read -r word; echo "You said $word"; stty size; read -r end',
      terminal: true,
    })
    const start = async (title: string, agent_id: string) => {
      const task = await client.call('tasks.create', { project_id: project.id, title })
      await client.call('tasks.claim', { task_id: task.id, agent_id })
    }
    await start('Write', worker.id)
    await start('Type', shell.id)
    await page.reload()
    await openProject('ferry')
    const open = async (title: string) => {
      await page.locator('[data-card]').filter({ hasText: title }).click()
      await page.getByRole('tab', { name: 'Agent' }).click()
    }

    await open('Write')
    const box = page.getByRole('textbox', { name: 'Message to Worker' })
    await box.fill('Handle nought')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    const waiting = page.getByRole('list', { name: 'Messages that wait' })
    await waiting.getByText('Handle nought').waitFor()
    await expect.poll(() => box.inputValue()).toBe('')
    expect(await violationsInThemes(page), 'a message waits').toEqual([])
    await waiting.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Change the message' }).fill('Handle zero')
    await page.keyboard.press('Control+Enter')
    await waiting.getByText('Handle zero', { exact: true }).waitFor()
    // An edit that was open when the agent got the message can be sent afterwards.
    await waiting.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Change the message' }).fill('Handle zero, and one')
    await page.getByRole('tab', { name: 'Activity' }).click()
    await page.getByRole('tab', { name: 'Agent' }).click()
    const change = page.getByRole('textbox', { name: 'Change the message' })
    await expect.poll(() => change.inputValue()).toBe('Handle zero, and one')
    // The branch's size is shown while the agent works.
    await page.locator('[data-card]').filter({ hasText: 'Write' }).getByRole('img', { name: '1 lines added' }).waitFor()
    await writeFile(join(gate, 'go'), '')
    await waiting.waitFor({ state: 'detached' })
    await expect.poll(() => box.inputValue()).toBe('Handle zero, and one')
    await box.fill('')
    await page.getByRole('button', { name: /run 2 of 2/ }).waitFor()
    await page.getByRole('log', { name: 'Transcript' }).getByText('I read it').first().waitFor()

    // The timeline shows both runs, with links.
    await page.getByRole('tab', { name: 'Activity' }).click()
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('finished run 2').waitFor()
    await timeline.getByText('Worktree created from').waitFor()
    await page.getByRole('group', { name: 'Show' }).getByRole('button', { name: 'Runs' }).click()
    await timeline.getByText('Worktree created from').waitFor({ state: 'detached' })
    await timeline.getByRole('button', { name: /^Transcript: .*run 1/ }).click()
    await page.getByRole('button', { name: /run 1 of 2/ }).waitFor()

    await open('Type')
    await page.getByRole('group', { name: 'Transcript view' }).getByRole('button', { name: 'Terminal' }).click()
    const terminal = page.getByRole('group', { name: 'Terminal' })
    await terminal.getByText('Ready?').first().waitFor()
    expect(await violationsInThemes(page), 'terminal').toEqual([])
    await terminal.getByRole('textbox').focus()
    await page.keyboard.type('hello')
    await terminal.getByText('Ready? hello').first().waitFor()
    await page.keyboard.press('Enter')
    await terminal.getByText('You said hello').first().waitFor()
    await page.getByRole('group', { name: 'Transcript view' }).getByRole('button', { name: 'Readable' }).click()
    await page.getByRole('log', { name: 'Transcript' }).getByText('You said hello').waitFor()

    // The header links to the neighbours on the board, in the same tab, and has the card's menu.
    const title = (name: string) => page.getByRole('heading', { level: 1, name })
    await page.getByRole('tab', { name: 'Activity' }).click()
    const [first, last] = (await page.locator('[data-card]').allInnerTexts())[0]?.includes('Type')
      ? (['Type', 'Write'] as const)
      : (['Write', 'Type'] as const)
    await page.keyboard.press(first === 'Type' ? 'Shift+J' : 'Shift+K')
    await title('Write').waitFor()
    await page.getByRole('tab', { name: 'Activity', selected: true }).waitFor()
    if (first === 'Write') await page.keyboard.press('Shift+J')
    await title(last).waitFor()
    // The full page has room for the buttons, too.
    await page.keyboard.press('f')
    await page.getByRole('button', { name: /^Next task: This is the last task/ }).waitFor()
    await page.getByRole('button', { name: 'Previous task' }).press('Enter')
    await title(first).waitFor()
    await page.keyboard.press('f')
    await page.keyboard.press('.')
    await page.getByRole('menuitem', { name: 'Assign…' }).click()
    await page.getByRole('dialog', { name: 'Assign' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("aria-label")')).toBe('Task actions')

    // Unsent text outlives its tab and the page; too large files are refused before they are read.
    const field = (name: string | RegExp) => page.getByRole('textbox', { name, exact: true })
    await page.getByRole('tab', { name: 'Overview' }).click()
    await page.keyboard.press('e')
    await field('Description').fill('Half a descr')
    await field('Comment').fill('Half a comm')
    const alerts = page.getByRole('alert').filter({ hasText: /added here|was not added|too long/ })
    for (const [name, most] of [
      ['Description', 1_000_000],
      ['Comment', 100_000],
    ] as const) {
      expect(await paste(field(name), { file: 50 * 1024 * 1024 })).toBe(true)
      await alerts.filter({ hasText: 'is over the limit of 10 MB' }).last().waitFor()
      expect(await paste(field(name), { text: most + 1 })).toBe(true)
      await alerts.filter({ hasText: `${most.toLocaleString('en')} characters at most` }).waitFor()
      expect(await paste(field(name), { text: most })).toBe(false)
    }
    await page.getByRole('tab', { name: 'Agent' }).click()
    const message = page.getByRole('textbox', { name: /^Message to/ })
    await message.fill('Half a mess')
    expect(await paste(message, { file: 50 * 1024 * 1024 })).toBe(true)
    await alerts.waitFor()
    await page.reload()
    await page.getByRole('tab', { name: 'Agent' }).click()
    await expect.poll(() => message.inputValue()).toBe('Half a mess')
    await page.getByRole('tab', { name: 'Overview' }).click()
    await expect.poll(() => field('Description').inputValue()).toBe('Half a descr')
    expect(await field('Comment').inputValue()).toBe('Half a comm')
  } finally {
    await rm(gate, { recursive: true, force: true })
  }
})
