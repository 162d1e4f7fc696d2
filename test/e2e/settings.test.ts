import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violations, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('keeps what is typed into settings, whatever is saved meanwhile', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const settings = () => client.call('projects.get_settings', { project_id })
  const saveElsewhere = (ci_steps: string[]) =>
    client.call('projects.update_settings', { project_id, default_review_config: { ci_steps } })

  // The next number is typed while the previous one is being saved.
  await page.goto(`${new URL(service.url).origin}/#/settings/limits`)
  const slots = page.getByLabel('Agents running at once')
  await slots.waitFor()
  const saved = Promise.withResolvers<void>()
  await page.route(/\/settings$/, (route) => saved.promise.then(() => route.continue()), { times: 1 })
  await page.getByLabel('Time limit per check').fill('7')
  await slots.focus()
  await slots.fill('5')
  saved.resolve()
  await page.getByText('Saved').first().waitFor()
  expect(await slots.inputValue()).toBe('5')
  await page.keyboard.press('Enter')
  await expect.poll(settings).toMatchObject({ ci_step_timeout_seconds: 420, max_concurrent_executions: 5 })

  // Without a draft, what is saved elsewhere appears. With one, the person is asked to choose.
  await page.getByRole('link', { name: 'Review and checks' }).click()
  const steps = page.getByLabel(/Default checks/)
  await saveElsewhere(['npm test'])
  await expect.poll(() => steps.inputValue()).toBe('npm test')
  await steps.fill('npm run check')
  await saveElsewhere(['make'])
  await page.getByText('Someone saved changes').waitFor()
  expect(await steps.inputValue()).toBe('npm run check')
  expect(await violations(page)).toEqual([])

  // The draft survives whatever comes between, until it is saved or discarded.
  await page.reload()
  await page.getByText('Someone saved changes').waitFor()
  expect(await steps.inputValue()).toBe('npm run check')
  await page.getByRole('button', { name: 'Use theirs' }).click()
  expect(await steps.inputValue()).toBe('make')
  await steps.fill('make check\n\n make lint ')
  await page.getByRole('button', { name: 'Save', exact: true }).first().click()
  await expect.poll(() => steps.inputValue()).toBe('make check\nmake lint')
  expect((await settings()).default_review_config.ci_steps).toEqual(['make check', 'make lint'])

  // The draft for one role stays while another role is shown.
  await page.getByRole('link', { name: 'Prompts' }).click()
  const template = page.getByLabel(/^Template/)
  await template.fill('Be brief.')
  const role = page.getByLabel('Role', { exact: true })
  const first = await role.inputValue()
  const others = await role.locator(`option:not([value="${first}"])`).allTextContents()
  await role.selectOption({ label: others[0] ?? 'no other role' })
  expect(await template.inputValue()).not.toBe('Be brief.')
  await role.selectOption(first)
  expect(await template.inputValue()).toBe('Be brief.')
  await page.getByRole('button', { name: 'Discard…' }).click()
  await page.getByRole('button', { name: 'Discard', exact: true }).click()
  await page.getByRole('button', { name: 'Discard…' }).waitFor({ state: 'detached' })
  expect(await violations(page)).toEqual([])
})

test('has separate pages for agents, project and app, and redirects older addresses', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const { id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await page.reload()
  await openProject('Ferry')

  // From the project's own menu, under its name.
  await page.getByRole('button', { name: 'Project Ferry, switch project' }).click()
  await page.getByRole('menuitem', { name: 'Settings of Ferry' }).click()
  await page.getByRole('heading', { level: 1, name: 'Ferry' }).waitFor()
  const own = page.getByRole('navigation', { name: 'Settings of Ferry' })
  expect(await own.getByRole('link').allInnerTexts()).toEqual([
    ...['Repositories', 'Workflow', 'Issues and pull requests', 'Hooks', 'Review and checks', 'Task templates'],
    ...['Containment', 'Where agents run', 'Limits', 'Prompts', 'Knowledge', 'Members', 'Merge'],
  ])
  expect(page.url()).toContain(`#/p/${id}/settings`)
  expect(await violationsInThemes(page), 'project').toEqual([])

  await page.getByRole('navigation', { name: 'Main' }).getByText('Agents').click()
  await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
  expect(await page.getByRole('navigation', { name: /^Settings/ }).count()).toBe(0)

  await page.getByRole('navigation', { name: 'Main' }).getByText('Settings').click()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  expect(await page.getByRole('navigation', { name: 'Settings' }).getByRole('link').allInnerTexts()).toEqual([
    ...['API and MCP', 'Storage', 'Runners', 'Account', 'People', 'Notifications', 'Appearance', 'Keyboard'],
    'Settings of Ferry',
  ])

  // The way back does not lead through the old address again.
  await page.evaluate("location.hash = '#/settings/hooks'")
  await own.getByRole('link', { name: 'Hooks' }).waitFor()
  await expect.poll(() => page.url()).toContain(`#/p/${id}/settings/hooks`)
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
})

test('says who divides changes into chapters, and which paths are risky', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const settings = () => client.call('projects.get_settings', { project_id })
  await page.goto(`${new URL(service.url).origin}/#/p/${project_id}/settings/review`)
  const tellers = page.getByRole('group', { name: 'Chapters' })
  await tellers.getByText('Coder').click()
  await expect.poll(settings).toMatchObject({ chapters: 'coder' })
  await page.getByText('The coder is asked for titles and an order.').waitFor()
  const paths = page.getByLabel('Risky paths, one per line')
  await paths.fill('src/auth\n\n *.pem ')
  await page.getByRole('button', { name: 'Save', exact: true }).last().click()
  await expect.poll(settings).toMatchObject({ risky_paths: ['src/auth', '*.pem'] })
  await expect.poll(() => paths.inputValue()).toBe('src/auth\n*.pem')
  expect(await violationsInThemes(page)).toEqual([])
  await paths.fill('src/{a,b}')
  await page.getByRole('button', { name: 'Save', exact: true }).last().click()
  await page.getByText('Use `*`, `**` and `?`').first().waitFor()
  expect((await settings()).risky_paths).toEqual(['src/auth', '*.pem'])
})
