import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createClient } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { launchChromium } from '../helpers/browser.ts'
import { violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'

const ada = { email: 'ada@copse.test', password: 'correct horse', display_name: 'Ada' }

async function fill(page: Page, fields: Readonly<Record<string, string>>, act: string): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value)
  await page.getByRole('button', { name: act }).click()
}
const signIn = (page: Page, email: string, password: string) =>
  fill(page, { Email: email, Password: password }, 'Sign in')
const lead = (page: Page, place: string) => page.evaluate(`location.hash = '${place}'`)

test('invites a person, resets their password, and ends what they left', async () => {
  await using service = await startBuiltService({ env: { SVC_REGISTRATION: 'invite' } })
  const anonymous = createClient(createHttpTransport({ baseUrl: service.url, getToken: () => null }))
  await anonymous.call('auth.register', ada)
  await using browser = await launchChromium()
  const open = async (place: string) => {
    const context = await browser.newContext({ bypassCSP: true, reducedMotion: 'reduce' })
    const page = await context.newPage()
    page.setDefaultTimeout(80_000)
    await page.goto(place)
    return page
  }
  const admin = await open(`${service.url}/#/settings/people`)
  await signIn(admin, ada.email, ada.password)
  await admin.getByRole('button', { name: 'Invite someone' }).click()
  const link = await admin.getByText('/#invite=').innerText()
  expect(await admin.getByRole('table', { name: 'Invites' }).getByRole('row').count()).toBe(2)

  // No one gets in without an invite, and the page says what to do.
  const guest = await open(service.url)
  await guest.getByRole('button', { name: 'Create an account' }).click()
  const grace = { 'Your name': 'Grace', Email: 'grace@copse.test', Password: 'another horse' }
  await fill(guest, grace, 'Create account')
  await guest.getByRole('alert').getByText('needs an invite').waitFor()
  expect(await violationsInThemes(guest), 'register').toEqual([])
  await guest.goto('about:blank')
  await guest.goto(link)
  expect(await guest.getByLabel('Invite or setup code').inputValue()).toMatch(/^[\w-]{43}$/)
  expect(guest.url()).not.toContain('invite')
  await fill(guest, grace, 'Create account')
  await guest.getByRole('heading', { name: 'Start with a repository' }).waitFor()

  // Runners are seen by everyone, and managed by admins.
  await lead(guest, '#/settings/runners')
  await guest.getByText('Only admins can add and change runners.').waitFor()
  await guest.getByRole('list', { name: 'Runners' }).getByText('This machine').waitFor()
  expect(await guest.getByRole('button', { name: 'Add runner' }).count()).toBe(0)

  // A read-only token with an end.
  await lead(guest, '#/settings/account')
  await guest.getByRole('button', { name: 'New token' }).click()
  await guest.getByLabel('What it may do').selectOption('read')
  await guest.getByLabel('How long it works').selectOption('30')
  await fill(guest, { 'Name of the token': 'dashboard' }, 'Create token')
  await guest.getByRole('table', { name: 'Personal tokens' }).getByText('only read').waitFor()

  // An admin helps with a code, which works once.
  await admin.getByRole('button', { name: 'Manage Grace' }).click()
  await admin.getByRole('table', { name: 'Tokens of Grace' }).getByText('dashboard').waitFor()
  await admin.getByRole('button', { name: 'Reset password…' }).click()
  await admin.getByRole('button', { name: 'Make a code' }).click()
  const note = admin.getByRole('status').filter({ hasText: 'signs in once' })
  const code = (await note.locator('.secret').innerText()).trim()
  const elsewhere = await open(service.url)
  await elsewhere.getByRole('button', { name: 'Use a reset code' }).click()
  const reset = { Email: 'grace@copse.test', 'Reset code': code, 'New password': 'third horse' }
  await fill(elsewhere, reset, 'Set it and sign in')
  await elsewhere.getByRole('heading', { name: 'Start with a repository' }).waitFor()
  await guest.reload()
  await guest.getByRole('heading', { name: 'Sign in' }).waitFor()

  // Signed in twice: one session ends the other and changes the password.
  await signIn(guest, 'grace@copse.test', 'third horse')
  await guest.getByRole('heading', { name: 'Account' }).waitFor()
  const sessions = guest.getByRole('table', { name: 'Sessions' })
  await sessions.getByText('This one').waitFor()
  await sessions.getByRole('button', { name: 'End…' }).click()
  await guest.getByRole('button', { name: 'End it' }).click()
  await expect.poll(() => sessions.getByRole('row').count()).toBe(2)
  await guest.getByRole('button', { name: 'Change…' }).click()
  const passwords = { 'Current password': 'wrong horse', 'New password': 'fourth horse' }
  await fill(guest, passwords, 'Change password')
  await guest.getByRole('alert').getByText('The current password is wrong').waitFor()
  await fill(guest, { ...passwords, 'Current password': 'third horse' }, 'Change password')
  await guest.getByRole('status').getByText('The password is changed').waitFor()
  expect(await violationsInThemes(guest), 'account').toEqual([])

  await admin.reload()
  await signIn(admin, ada.email, ada.password)
  const log = admin.getByRole('table', { name: 'Security log' })
  await log.getByText('Changed the password').waitFor()
  await log.getByText('Used a reset code').waitFor()
  expect(await violationsInThemes(admin), 'people').toEqual([])
  const client = createClient(createHttpTransport({ baseUrl: service.url, getToken: () => null }))
  await client.call('auth.login', { email: 'grace@copse.test', password: 'fourth horse' })
})

test('greets a new service’s first person, and keeps them signed in where they want it', async () => {
  await using service = await startBuiltService()
  await using browser = await launchChromium()
  const context = await browser.newContext({ bypassCSP: true, reducedMotion: 'reduce' })
  const page = await context.newPage()
  page.setDefaultTimeout(80_000)
  await page.goto(service.url)
  await page.getByRole('heading', { name: 'Create your account' }).waitFor()
  expect(await page.getByLabel('Invite or setup code').count()).toBe(0)
  expect(await violationsInThemes(page), 'first account').toEqual([])
  await page.getByRole('checkbox', { name: /^Stay signed in/ }).click()
  await fill(page, { 'Your name': 'Ada', Email: ada.email, Password: ada.password }, 'Create account')
  const inside = (one: Page) => one.getByRole('heading', { name: 'Start with a repository' }).waitFor()
  await inside(page)
  await page.reload()
  await inside(page)
  // Tabs that open at once take turns with the cookie.
  const other = await context.newPage()
  await Promise.all([page.reload(), other.goto(service.url)])
  await Promise.all([inside(page), inside(other)])
  await other.close()
  expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toMatch(
    /svc_session|eyJ/,
  )

  await lead(page, '#/settings/account')
  await page.getByRole('button', { name: 'Sign out' }).first().click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  // Without the tick it is as before: gone with the tab.
  await signIn(page, ada.email, ada.password)
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})
