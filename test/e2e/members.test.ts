import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createClient } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { violations, violationsInThemes } from './harness/axe.ts'
import { startBuiltService, type BuiltService } from './harness/built-service.ts'

const ada = { email: 'ada@copse.test', password: 'correct horse', display_name: 'Ada' }
const grace = { email: 'grace@copse.test', password: 'another horse', display_name: 'Grace' }

/** Two accounts: Ada, who came first, owns a project; Grace belongs to none. */
async function startTeam(service: BuiltService, repo_path: string) {
  let token: string | null = null
  const client = createClient(createHttpTransport({ baseUrl: service.url, getToken: () => token }))
  token = (await client.call('auth.register', ada)).access_token
  await client.call('auth.register', grace)
  const project = await client.call('projects.create', { name: 'Harbour', repo_path })
  await client.call('tasks.create', { project_id: project.id, title: 'Paint the crane' })
  return { client, project }
}

async function signIn(page: Page, person: typeof ada): Promise<void> {
  await page.getByLabel('Email').fill(person.email)
  await page.getByLabel('Password').fill(person.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const railOf = (page: Page) => page.getByRole('navigation', { name: 'Main' })

/** What one person writes down, the other reads at once, finds, edits and deletes. */
async function shareKnowledge(owner: Page, guest: Page): Promise<void> {
  for (const page of [owner, guest]) await page.evaluate("location.hash = '#/settings/knowledge'")
  await guest.getByText('Nothing yet.').waitFor()
  const add = owner.getByRole('button', { name: 'Add entry' })
  await add.click()
  await owner.getByRole('dialog').getByLabel('Title').fill('Tides')
  await owner.keyboard.press('Escape')
  await owner.getByRole('dialog').waitFor({ state: 'detached' })
  // The draft is still there.
  await add.click()
  expect(await owner.getByRole('dialog').getByLabel('Title').inputValue()).toBe('Tides')
  await owner.getByRole('dialog').getByLabel('What agents should know').fill('Cranes **stop** at high water.')
  expect(await violationsInThemes(owner), 'knowledge dialog').toEqual([])
  await owner.keyboard.press('Control+Enter')
  const entryAt = (page: Page) => page.getByRole('list', { name: 'Entries' }).getByRole('listitem')
  await entryAt(guest).getByText('stop', { exact: true }).waitFor()
  expect(await violationsInThemes(guest), 'knowledge').toEqual([])

  await guest.getByRole('button', { name: 'From agents' }).click()
  await guest.getByText('Nothing new from agents').waitFor()
  await guest.getByRole('button', { name: 'All', exact: true }).click()
  await guest.getByLabel('Search knowledge').fill('sailors')
  await guest.getByText('No results for “sailors”').waitFor()
  await guest.getByLabel('Search knowledge').fill('water')
  await guest.getByRole('button', { name: 'Edit Tides' }).click()
  await guest.getByRole('dialog').getByLabel('Title').fill('High water')
  await guest.getByRole('button', { name: 'Save' }).click()
  await entryAt(owner).getByText('edited by grace').waitFor()
  await owner.getByRole('button', { name: 'Delete…' }).click()
  await owner.getByRole('button', { name: 'Delete entry' }).click()
  await guest.getByText('No results for “water”').waitFor()
}

test('adds and removes a member, who sees the project and loses it at once', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService()
  const { project } = await startTeam(service, repository.path)
  await using browser = await launchChromium()
  const open = async (person: typeof ada, place: string) => {
    const context = await browser.newContext({ bypassCSP: true, reducedMotion: 'reduce' })
    const page = await context.newPage()
    page.setDefaultTimeout(80_000)
    page.on('pageerror', (error) => {
      throw error
    })
    await page.goto(`${service.url}/${place}`)
    await signIn(page, person)
    return page
  }
  const owner = await open(ada, '#/settings/members')
  const guest = await open(grace, '')
  await guest.getByRole('heading', { name: 'Start with a repository' }).waitFor()
  await guest.getByText('ask its owner to add you').waitFor()

  // After the sign-in the requested page opens.
  await owner.getByRole('heading', { name: 'Members' }).waitFor()
  const members = owner.getByRole('table', { name: 'Members' })
  await members.getByText('ada@copse.test').waitFor()
  await owner.getByLabel('Email of whom to add').fill('nobody@copse.test')
  await owner.keyboard.press('Enter')
  await owner.getByRole('alert').getByText('No account has this email').waitFor()
  await owner.getByLabel('Email of whom to add').fill('Grace@copse.test')
  await owner.keyboard.press('Enter')
  await members.getByText('grace@copse.test').waitFor()
  expect(await violationsInThemes(owner), 'members').toEqual([])

  await railOf(guest).getByText('Harbour').click()
  await guest.locator('[data-card]').filter({ hasText: 'Paint the crane' }).waitFor()
  // A member sees the others, and can change nothing.
  await guest.goto(`${service.url}/#/settings/members`)
  await guest.getByRole('table', { name: 'Members' }).getByText('ada@copse.test').waitFor()
  expect(await guest.getByRole('button', { name: /Remove|Add$/ }).count()).toBe(0)
  await railOf(guest).getByText('Harbour').click()

  await shareKnowledge(owner, guest)
  await railOf(guest).getByText('Harbour').click()
  // A request during a reload of the list neither waits for it nor is lost.
  const read = Promise.withResolvers<void>()
  await owner.route(/\/members(\?|$)/, async (route) => {
    if (route.request().method() === 'GET') await read.promise
    await route.continue()
  })
  await owner.evaluate("location.hash = '#/settings/members'")

  // The last owner can't be removed; the button says why.
  const [own, other] = [members.getByRole('row', { name: /Ada/ }), members.getByRole('row', { name: /Grace/ })]
  expect(await own.getByRole('button', { name: /Remove/ }).getAttribute('aria-disabled')).toBe('true')
  await own.getByLabel('Role of Ada').selectOption('member')
  await owner.getByRole('alert').getByText("This is the project's last owner").waitFor()
  expect(await own.getByLabel('Role of Ada').inputValue()).toBe('owner')
  read.resolve()

  await other.getByRole('button', { name: 'Remove…' }).click()
  await other.getByRole('button', { name: 'Remove Grace' }).click()
  await other.waitFor({ state: 'detached' })
  await guest.getByRole('heading', { name: 'Start with a repository' }).waitFor()
  expect(await guest.getByText(project.name).count()).toBe(0)
})
test('makes and unmakes admins by a switch, and keeps the last one', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService()
  const { client } = await startTeam(service, repository.path)
  await using browser = await launchChromium()
  const page = await browser.newPage({ bypassCSP: true })
  page.setDefaultTimeout(80_000)
  await page.goto(`${service.url}/#/settings/people`)
  await signIn(page, ada)
  const switchOf = (name: string) => page.getByRole('switch', { name: `${name} is administrator` })
  await switchOf('Grace').waitFor()
  expect(await violations(page), 'people').toEqual([])
  await switchOf('Ada').click()
  await page.getByRole('alert').getByText('admin').waitFor()
  expect(await switchOf('Ada').getAttribute('aria-checked')).toBe('true')
  await switchOf('Grace').focus()
  await page.keyboard.press('Space')
  await page.locator('[role=switch][aria-checked=true][aria-label^=Grace]').waitFor()
  expect((await client.call('admin.list_users', {})).items.map(({ is_admin }) => is_admin)).toEqual([true, true])

  // Signing out leads to the sign-in, and signing in back.
  await page.evaluate("location.hash = '#/settings/account'")
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signIn(page, grace)
  await page.getByText('@grace').first().waitFor()
  await page.evaluate("location.hash = '#/settings/people'")
  await switchOf('Ada').waitFor()
})
