import { expect, test } from 'vitest'
import { createClient } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { smallWorkflow } from '../helpers/small-workflow.ts'
import { violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'

const ada = { email: 'ada@copse.test', password: 'correct horse', display_name: 'Ada' }
const proposes = ['Tides', 'Cranes', 'Ropes']
  .map(
    (title) =>
      `curl -sf --noproxy "*" -H "Authorization: Bearer $SVC_API_TOKEN" -H "Content-Type: application/json" -d '{"title":"${title}","body":"Learned about **${title}**."}' "$SVC_API_URL/api/v1/projects/$SVC_PROJECT_ID/knowledge"`,
  )
  .join(' && ')

test('accepts, edits and rejects what an agent proposed', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService()
  let token: string | null = null
  const client = createClient(createHttpTransport({ baseUrl: service.url, getToken: () => token }))
  token = (await client.call('auth.register', ada)).access_token
  const project = await client.call('projects.create', { name: 'Harbour', repo_path: repository.path })
  const workflow_definition = JSON.stringify(smallWorkflow({})())
  await client.call('projects.update', { project_id: project.id, workflow_definition })
  const agent = await client.call('agents.create', {
    name: 'Writer',
    executor: 'command',
    config: { containment: 'none', command: proposes },
  })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Paint the crane' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const listed = async (status: 'proposed' | 'accepted') =>
    (await client.call('knowledge.list', { project_id: project.id, status })).items
  await expect.poll(async () => (await listed('proposed')).length, { timeout: 80_000 }).toBe(3)

  await using browser = await launchChromium()
  const context = await browser.newContext({ bypassCSP: true, reducedMotion: 'reduce' })
  const page = await context.newPage()
  page.setDefaultTimeout(80_000)
  await page.goto(`${service.url}/#/p/${project.id}/settings/knowledge`)
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password').fill(ada.password)
  await page.getByRole('button', { name: 'Sign in' }).click()

  const proposals = page.getByRole('list', { name: 'Proposals' })
  const entries = page.getByRole('list', { name: 'Entries' })
  await proposals.getByText('Writer').first().waitFor()
  expect(await proposals.getByRole('link', { name: task.ref }).count()).toBe(3)
  expect(await violationsInThemes(page), 'proposals').toEqual([])
  await page.getByRole('button', { name: 'Accept Tides', exact: true }).click()
  await entries.getByRole('heading', { name: 'Tides' }).waitFor()
  await entries.getByText('accepted by Ada').waitFor()
  await page.getByRole('button', { name: 'Edit and accept Cranes' }).click()
  await page.getByRole('dialog').getByLabel('What agents should know').fill('Cranes stop at high water.')
  expect(await violationsInThemes(page), 'dialog').toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click()
  await entries.getByText('Cranes stop at high water.').waitFor()
  await proposals.getByRole('button', { name: 'Reject…' }).click()
  await page.getByRole('button', { name: 'Reject proposal' }).click()
  await proposals.waitFor({ state: 'detached' })
  expect(await listed('proposed')).toEqual([])
  expect((await listed('accepted')).map((one) => [one.title, one.accepted_by, one.edited_by])).toEqual([
    ['Cranes', 'user:ada', 'user:ada'],
    ['Tides', 'user:ada', null],
  ])
})
