import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { startBuiltService } from './harness/built-service.ts'

test('signs in once with the link of npm start as local operator', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const first = await browser.newPage()
  await first.goto(service.url)
  await first.getByRole('button', { name: /demo project/i }).waitFor()
  expect(first.url()).not.toContain('code=')

  const context = await browser.newContext()
  const second = await context.newPage()
  await second.goto(service.url)
  await second.getByLabel(/email/i).first().waitFor()
  expect(await second.getByRole('button', { name: /demo project/i }).count()).toBe(0)
})

test('asks to sign in without a link', async () => {
  await using service = await startBuiltService()
  await using browser = await launchChromium()
  const page = await browser.newPage()
  await page.goto(service.url)
  await page.getByLabel(/email/i).first().waitFor()
})

test('registers a person, who returns with the password and no other', async () => {
  await using service = await startBuiltService()
  await using browser = await launchChromium()
  const page = await browser.newPage()
  page.setDefaultTimeout(80_000)
  await page.goto(service.url)
  await page.getByRole('heading', { name: 'Create your account' }).waitFor()
  await page.getByLabel('Your name').fill('Owner')
  await page.getByLabel('Email').fill('owner@copse.test')
  await page.getByLabel('Password').fill('correct horse')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /demo project/i }).waitFor()

  // Tokens are in memory only, so a reload asks again.
  await page.reload()
  await page.getByLabel(/email/i).first().fill('Owner@copse.test')
  await page
    .getByLabel(/password/i)
    .first()
    .fill('wrong horse')
  await page
    .getByRole('button', { name: /sign in/i })
    .last()
    .click()
  await page
    .getByText(/wrong|do not match|not right|incorrect/i)
    .first()
    .waitFor()
  await page
    .getByLabel(/password/i)
    .first()
    .fill('correct horse')
  await page
    .getByRole('button', { name: /sign in/i })
    .last()
    .click()
  await page.getByRole('button', { name: /demo project/i }).waitFor()
})

test('is in the kept theme before the script of the screens is there, and loads no style twice', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const page = await browser.newPage()
  await page.addInitScript(() => localStorage.setItem('copse.appearance', JSON.stringify({ theme: 'dark' })))
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const script = Promise.withResolvers<void>()
  await page.route('**/assets/index-*.js', async (route) => {
    await script.promise
    await route.continue()
  })
  await page.goto(service.url, { waitUntil: 'commit' })
  await page.waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(19, 20, 18)')
  expect(await page.locator('#app > *').count()).toBe(0)
  script.resolve()
  await page.getByRole('button', { name: /demo project/i }).waitFor()
  await page.evaluate(() => (location.hash = '#/agents'))
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor()
  expect(asked.filter((path) => /SettingsPage.*\.css$/.test(path))).toHaveLength(1)
  // What loads other screens takes their styles for loaded where it finds such a link, whether enabled or not.
  const links = await page
    .locator('link[rel="stylesheet"][disabled]')
    .evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  expect(links).toEqual([expect.stringMatching(/^\.\/assets\/index-.*\.css$/)])
  expect(asked.filter((path) => /index-.*\.css$/.test(path))).toEqual([])
})
