import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGitea } from '../fakes/forges/gitea.ts'
import { createGitHosting } from '../fakes/git-http-server.ts'
import { bareForgeGit } from '../helpers/bare-forge-git.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const name = 'octo/hello'
const secret = 'SVC_SECRET_FORGE'
const title = 'Greet in French'

/** A project at a scripted Gitea with real git below it, and the page that shows it. */
async function start(workflow_template: 'pull-request' | 'default' = 'pull-request') {
  await using opened = new AsyncDisposableStack()
  const git = opened.use(await createGitHosting())
  const forge = opened.use(
    await startGitea({
      git: bareForgeGit(git),
      mount: (request, response) => request.url?.includes('.git/') === true && git.handle(request, response),
    }),
  )
  const repository = opened.use(await createTestRepository({ files: { 'README.md': 'Hello\n' } }))
  await git.create(name)
  git.tokens.add(forge.token)
  forge.repository(name)
  await repository.git(['push', '--quiet', join(git.root, `${name}.git`), 'main'])
  await repository.git(['remote', 'add', 'origin', `${forge.url}/${name}.git`])
  const service = opened.use(await startBuiltService({ as: 'local', env: { [secret]: forge.token } }))
  const browser = opened.use(await launchChromium())
  const page = await browser.newPage(checkedPage)
  const local = await openLocally(page, service)
  const project = await local.client.call('projects.create', {
    name: 'Pulls',
    repo_path: repository.path,
    workflow_template,
  })
  const owned = opened.move()
  return {
    ...local,
    forge,
    git,
    project_id: project.id,
    host: new URL(forge.url).host,
    go: (hash: string) => local.page.evaluate(`location.hash = '#/p/${project.id}${hash}'`),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
type Started = Awaited<ReturnType<typeof start>>

async function connect({ client, forge, project_id }: Started): Promise<void> {
  await client.call('integrations.create', {
    project_id,
    platform: 'selfhosted',
    base_url: forge.url,
    owner: 'octo',
    repo: 'hello',
    token_secret_ref: secret,
    poll_interval_secs: 86_400,
  })
}

/** A task whose agent has greeted, and which waits at the gate for its pull request. */
async function atGate({ client, project_id }: Started, write = 'echo bonjour > greeting.txt') {
  const command = `${write}; echo done`
  const agent = await client.call('agents.create', { name: 'Scripted', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id, title, description: 'Say bonjour.' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await expect
    .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'pull_request', pull_request: { number: 1 } })
  return task
}

test('sets pull requests up in three steps, and keeps what was typed when saving fails', async () => {
  await using at = await start()
  const { page, client, forge, project_id } = at
  await page.reload()
  await at.go('/settings/issues')
  await page.getByRole('button', { name: 'Gitea or Forgejo' }).click()
  await page.getByLabel('Repository').fill(name)
  await page.getByLabel('API URL').fill(forge.url)
  await page.getByLabel('Environment variable that holds the token').fill(secret)
  await page.getByRole('button', { name: 'Connect and import' }).click()

  const check = page.getByRole('button', { name: 'Check the token' })
  await check.click()
  const rights = page.getByRole('list', { name: 'Rights of the token' })
  await rights.getByText('OK').first().waitFor()
  expect(forge.requests.filter(({ method }) => method !== 'GET')).toEqual([])
  expect(await violationsInThemes(page), 'rights').toEqual([])
  forge.state.tokens.set(forge.token, { login: 'robot', scopes: ['read:repository'] })
  await check.click()
  await rights.getByText('Missing').first().waitFor()
  await page.getByText(/rights? (is|are) missing\./).waitFor()

  await page.getByRole('switch', { name: 'Pull requests' }).click()
  await page.getByLabel('Labels (separated by commas)').fill('bot, needs review')
  await page.getByRole('checkbox', { name: 'Open as a draft' }).click()
  await page.getByRole('checkbox', { name: 'Let the agent fix' }).click()
  await page.getByLabel('Rounds until it asks you').fill('3')
  const form = page.locator('form', { has: page.getByLabel('Labels (separated by commas)') })
  const isChange = { times: 1 }
  await page.route('**/integration', (route) => route.abort(), isChange)
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('alert').waitFor()
  expect(await page.getByLabel('Labels (separated by commas)').inputValue()).toBe('bot, needs review')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect
    .poll(async () => (await client.call('integrations.get', { project_id })).pull_requests, { timeout: 80_000 })
    .toMatchObject({
      enabled: true,
      draft: true,
      labels: ['bot', 'needs review'],
      auto_fix: { enabled: true, max_rounds: 3, from: 'members' },
    })
  await page.getByRole('checkbox', { name: 'Close the issue when its task is done' }).click()
  await page.getByRole('button', { name: 'Save' }).last().click()
  await expect
    .poll(async () => (await client.call('integrations.get', { project_id })).write_back, { timeout: 80_000 })
    .toEqual({ comment: false, close: true, label: null, follow: false })
  expect(await violationsInThemes(page), 'set up').toEqual([])
})

test('follows a pull request in its tab from the push to the merge, with a red check and a thread on the way', async () => {
  await using at = await start()
  const { page, client, forge, git, panel, project_id, host } = at
  await connect(at)
  await client.call('integrations.update', { project_id, pull_requests: { enabled: true } })
  const task = await atGate(at)
  const { head } = await client.call('pull_requests.get', { task_id: task.id })
  const card = page.locator(`[data-card="${task.id}"]`)
  await page.reload()
  await at.go('')
  await card.getByText('#1').waitFor()
  await card.click()
  // The tab of the task that waits for its forge, without a choice.
  await panel.getByRole('tab', { name: 'Pull request', selected: true }).waitFor()
  const pane = panel.getByRole('region', { name: 'Pull request', exact: true })
  await pane.getByRole('heading', { name: 'Pull request #1' }).waitFor()
  const checkNow = pane.getByRole('button', { name: 'Check now' })

  const log = 'installing\nError: expected bonjour, got <b>hello</b>\n'
  await forge.people.job(name, head, 'build', { status: 'failure', description: 'Failing', log })
  await forge.people.status(name, head, 'ci/docs', 'pending')
  const hostile = 'Capital B, *please*. <img src=x onerror="document.title = \'owned\'">'
  forge.people.commentOnLine(name, 1, 'rita', { path: 'greeting.txt', line: 1, body: hostile })
  await checkNow.click()
  await card.getByText(/^#1: ci \/ build .*failed$/).waitFor()
  await pane.getByRole('button', { name: /^Show the log of ci \/ build/ }).click()
  await pane.getByText('Error: expected bonjour, got <b>hello</b>').waitFor()
  const thread = pane.getByRole('article', { name: 'Thread by rita' })
  await thread.getByText('<img src=x').waitFor()
  expect(await page.title()).not.toBe('owned')
  expect(await violationsInThemes(page), 'red').toEqual([])

  await thread.getByRole('button', { name: 'Reply' }).click()
  await thread.getByRole('textbox', { name: 'Reply to rita' }).fill('It stays small.')
  await thread.getByRole('checkbox', { name: 'Resolve the thread' }).click()
  await thread.getByRole('button', { name: 'Reply', exact: true }).click()
  await thread.getByRole('button', { name: /^Resolved/ }).waitFor()

  await forge.people.job(name, head, 'build', { status: 'success', description: 'Successful' })
  await checkNow.click()
  const decision = panel.getByRole('group', { name: 'Decision' })
  await decision.getByRole('button', { name: 'Waiting for 1 check' }).waitFor()
  await card.getByText('#1 waits for 1 check').waitFor()
  await forge.people.status(name, head, 'ci/docs', 'success')
  await checkNow.click()
  await card.getByText('#1 can be merged').waitFor()
  await decision.getByRole('button', { name: `Merge on ${host}` }).click()
  await expect
    .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'done' })
  await pane.getByText('#1 was merged.').waitFor()
  expect(await git.git(name, ['show', 'main:greeting.txt'])).toBe('bonjour')
})

test('shows the threads of the forge at their lines in the diff, where work since has moved them', async () => {
  await using at = await start()
  const { page, client, forge, panel, project_id } = at
  await connect(at)
  await client.call('integrations.update', { project_id, pull_requests: { enabled: true } })
  const task = await atGate(at, 'seq 20 > greeting.txt')
  const { number } = await client.call('pull_requests.get', { task_id: task.id })
  const hostile = 'Spell it *out*. <img src=x onerror="document.title = \'owned\'">'
  forge.people.commentOnLine(name, number, 'rita', { path: 'greeting.txt', line: 7, body: hostile })
  forge.people.commentOnLine(name, number, 'omar', { path: 'greeting.txt', line: 12, body: 'Why twelve?' })
  const settled = forge.people.commentOnLine(name, number, 'ines', { path: 'greeting.txt', line: 15, body: 'Enough.' })
  forge.people.resolve(name, number, settled.id, 'ines')
  await client.call('pull_requests.sync', { task_id: task.id })
  // Newer than what the forge has: the seventh line is the eighth, the twelfth is another.
  const { path = '' } = await client.call('tasks.workspace', { task_id: task.id })
  const lines = Array.from({ length: 20 }, (_, index) => (index === 11 ? 'a dozen' : String(index + 1)))
  await writeFile(join(path, 'greeting.txt'), `${['zero', ...lines].join('\n')}\n`)
  await page.reload()
  await at.go(`/t/${task.id}/changes`)

  const differences = panel.getByRole('region', { name: 'Differences' })
  const thread = differences.getByRole('article', { name: 'Thread by rita' })
  await thread.getByText('Line 8', { exact: true }).waitFor()
  await thread.getByText('<img src=x').waitFor()
  expect(await page.title()).not.toBe('owned')
  const topOf = async (text: string) =>
    (await differences.getByText(text, { exact: true }).first().boundingBox())?.y ?? 0
  const rita = (await thread.boundingBox())?.y ?? 0
  const below = await differences.locator('[data-line="8"]').first().boundingBox()
  expect(rita).toBeGreaterThanOrEqual((below?.y ?? 9_999) + (below?.height ?? 0) - 1)
  expect(rita).toBeLessThan((await differences.locator('[data-line="9"]').first().boundingBox())?.y ?? 0)
  const omar = differences.getByRole('article', { name: 'Thread by omar' })
  await omar.getByText('Its line has changed here').waitFor()
  expect((await omar.boundingBox())?.y ?? 9_999).toBeLessThan(await topOf('zero'))
  const ines = differences.getByRole('article', { name: 'Thread by ines' })
  await ines.getByRole('button', { name: /^Resolved ines: Enough\..*Line 16$/ }).waitFor()
  const bar = panel.getByRole('region', { name: 'Review' })
  await bar.getByRole('button', { name: '2 unresolved' }).waitFor()
  expect(await violationsInThemes(page), 'threads').toEqual([])

  await thread.getByRole('button', { name: 'Reply' }).click()
  await thread.getByRole('textbox', { name: 'Reply to rita' }).fill('I did.')
  await thread.getByRole('checkbox', { name: 'Resolve the thread' }).click()
  await thread.getByRole('button', { name: 'Reply', exact: true }).click()
  await thread.getByRole('button', { name: /^Resolved/ }).waitFor()
  await bar.getByRole('button', { name: '1 unresolved' }).waitFor()
  const { threads } = await client.call('pull_requests.get', { task_id: task.id })
  expect(threads.find(({ line }) => line === 7)?.comments).toMatchObject([
    { author: 'rita' },
    { body: 'I did.', ours: true },
  ])
})

test('says what to do when the forge refuses, and opens again what was closed there', async () => {
  await using at = await start()
  const { page, client, forge, panel, project_id } = at
  await connect(at)
  const settings = { enabled: true, draft: true }
  await client.call('integrations.update', { project_id, pull_requests: settings })
  const task = await atGate(at)
  await page.reload()
  await at.go(`/t/${task.id}/pull_request`)
  const pane = panel.getByRole('region', { name: 'Pull request', exact: true })
  const decision = panel.getByRole('group', { name: 'Decision' })
  await decision.getByRole('button', { name: 'Mark as ready' }).click()
  await pane.getByText('Open', { exact: true }).waitFor()

  forge.people.close(name, 1)
  await pane.getByRole('button', { name: 'Check now' }).click()
  await panel.getByText('Its pull request was closed').waitFor()
  await decision.getByRole('button', { name: 'Reopen #1' }).click()
  await panel.getByText('Its pull request was closed').waitFor({ state: 'detached' })
  expect(forge.people.pull(name, 1).state).toBe('open')

  forge.state.tokens.clear()
  await pane.getByRole('button', { name: 'Check now' }).click()
  await pane.getByRole('alert').waitFor()
  expect(await violationsInThemes(page), 'refused').toEqual([])
  // What was known stays readable.
  await pane.getByRole('heading', { name: 'Pull request #1' }).waitFor()
})

test('opens one by hand from its tab, by key and by palette', async () => {
  await using at = await start('default')
  const { page, client, forge, panel, project_id, host } = at
  await connect(at)
  await client.call('integrations.update', { project_id, pull_requests: { enabled: true } })
  const fresh = await client.call('tasks.create', { project_id, title: 'Not begun' })
  await page.reload()
  await at.go(`/t/${fresh.id}`)
  await panel.getByRole('tab', { name: 'Pull request' }).waitFor()
  await page.keyboard.press('q')
  await panel.getByRole('tab', { name: 'Pull request', selected: true }).waitFor()
  const open = panel.getByRole('button', { name: 'Open pull request' })
  await panel.getByText('Pass the review first').waitFor()
  expect(await open.getAttribute('aria-disabled')).toBe('true')

  const command = 'echo bonjour > greeting.txt; echo done'
  const agent = await client.call('agents.create', { name: 'Scripted', executor: 'command', config: { command } })
  await client.call('tasks.claim', { task_id: fresh.id, agent_id: agent.id })
  await panel.getByText(`to ${name} and asks to merge it into main`).waitFor()
  await open.click()
  // A push runs git a dozen times, which takes long on a busy machine.
  await panel.getByRole('heading', { name: 'Pull request #1' }).waitFor({ timeout: 60_000 })
  expect(forge.people.pull(name, 1).title).toBe('Not begun')
  // What is open there is merged there.
  await panel.getByRole('button', { name: 'Show pull request' }).waitFor()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  await palette.getByRole('textbox').fill('pull request')
  await palette.getByRole('option', { name: 'View pull request at the forge' }).waitFor()
  const asked = forge.requests.length
  await palette.getByRole('option', { name: 'Check pull request now' }).click()
  await expect.poll(() => forge.requests.length, { timeout: 80_000 }).toBeGreaterThan(asked)
  const link = panel.getByRole('link', { name: `Open on ${host}` }).first()
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
})

test('asks whether an open one is closed along with its task, and closes none unasked', async () => {
  await using at = await start()
  const { page, client, forge, project_id } = at
  await connect(at)
  await client.call('integrations.update', { project_id, pull_requests: { enabled: true } })
  const task = await atGate(at)
  await page.reload()
  await at.go('')
  const card = page.locator(`[data-card="${task.id}"]`)
  await card.getByText('#1').waitFor()
  await card.click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Cancel task…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel this task?' })
  const close = dialog.getByRole('checkbox', { name: 'Close pull request #1 too' })
  expect(await close.getAttribute('aria-checked')).toBe('false')
  expect(await violationsInThemes(page), 'cancel').toEqual([])
  await dialog.getByRole('button', { name: 'Cancel task' }).click()
  const shown = () => client.call('tasks.get', { task_id: task.id })
  await expect.poll(shown, { timeout: 80_000 }).toMatchObject({ status: 'cancelled', pull_request: { state: 'open' } })

  await card.click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Archive' }).click()
  const archive = page.getByRole('dialog', { name: 'Archive this task?' })
  await archive.getByRole('checkbox', { name: 'Close pull request #1 too' }).click()
  await archive.getByRole('button', { name: 'Archive task' }).click()
  await expect.poll(shown, { timeout: 80_000 }).toMatchObject({ archived: true, pull_request: { state: 'closed' } })
  expect(forge.people.pull(name, 1).state).toBe('closed')
})
