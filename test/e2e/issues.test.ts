import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createClient } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { launchChromium } from '../helpers/browser.ts'
import { json, startTracker, type Answer } from '../helpers/fake-tracker.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { violations } from './harness/axe.ts'
import { startBuiltService, type BuiltService } from './harness/built-service.ts'

const person = { email: 'owner@copse.test', password: 'correct horse' }

test('connects a tracker, shows its import and failures, and links issues to tasks', async () => {
  await using tracker = await startTracker()
  const numbers = Array.from({ length: 250 }, (_, index) => index + 1)
  tracker.repositories.set(
    'octo/hello',
    numbers.map((number) => ({ number, title: `Issue ${number}` })),
  )
  let release: (() => void) | null = null
  const hold: Answer = (response) => void (release = () => response.writeHead(502).end())
  tracker.instead = (request) => (request.query['page'] === '2' && release === null ? hold : null)
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ env: { SVC_SECRET_TRACKER: tracker.token } })
  const { client, project_id } = await makeProject(service, repository.path)
  await using browser = await launchChromium()
  const page = await signIn(browser, service.url)
  const go = (hash: string) => page.evaluate(`location.hash = '${hash}'`)

  await go('#/settings/issues')
  await page.getByLabel('Repository').fill('octo/hello')
  await page.getByLabel('API URL').fill(tracker.url)
  await page.getByLabel('Environment variable that holds the token').fill('SVC_SECRET_TRACKER')
  await page.getByRole('button', { name: 'Connect and import' }).click()
  await page.getByText('Page 1 of 3 · 100 issues imported').waitFor()
  await page.getByText('Importing', { exact: true }).waitFor()
  expect(await violations(page), 'importing').toEqual([])
  void (release as (() => void) | null)?.()
  await page.getByText('The tracker answered with status 502').waitFor()
  expect(await violations(page), 'failed').toEqual([])
  await page.getByRole('button', { name: 'Sync now' }).click()
  await page.getByText('Up to date').waitFor()
  tracker.instead = () => json(401, {})
  await page.getByRole('button', { name: 'Sync now' }).click()
  await page.getByText('The tracker does not accept the token').waitFor()
  // On every screen the rail shows it and links to where it is fixed.
  await go(`#/p/${project_id}`)
  await page.reload()
  await page.getByLabel('Email').fill(person.email)
  await page.getByLabel('Password').fill(person.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Import of Issues failed' }).click()
  await page.getByText('The tracker does not accept the token').waitFor()

  const { items } = await client.call('tasks.list', { project_id, limit: 1 })
  const [first] = items
  const { id } = await client.call('tasks.create', { project_id, title: 'By hand' })
  await go(`#/p/${project_id}/t/${id}`)
  await page.getByRole('button', { name: 'Link an issue' }).click()
  await page.getByLabel('Issue URL').fill(first?.external_issue_url ?? '')
  await page.getByRole('button', { name: 'Link', exact: true }).click()
  await page.getByRole('button', { name: 'Open that task' }).click()
  await page.getByRole('link', { name: /^#1\b.*opens/ }).waitFor()
  expect(page.url()).toContain(first?.id)
  expect(await violations(page), 'linked').toEqual([])
})

async function makeProject({ url }: BuiltService, repo_path: string) {
  let token: string | null = null
  const client = createClient(createHttpTransport({ baseUrl: url, getToken: () => token }))
  token = (await client.call('auth.register', { ...person, display_name: 'Owner' })).access_token
  const project = await client.call('projects.create', { name: 'Issues', repo_path })
  return { client, project_id: project.id }
}

async function signIn(browser: Awaited<ReturnType<typeof launchChromium>>, url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true })
  const page = await context.newPage()
  page.setDefaultTimeout(80_000)
  await page.goto(url)
  await page.getByLabel('Email').fill(person.email)
  await page.getByLabel('Password').fill(person.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  return page
}
