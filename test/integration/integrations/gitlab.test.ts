import { expect, test } from 'vitest'
import { startIntegrationJob } from '../../helpers/integration-job.ts'
import { refused } from '../../helpers/refusal.ts'

const gitlab = { platform: 'gitlab', owner: 'group/sub', repo: 'hello' } as const

test('imports the open issues of a project of GitLab, each once, with their files', async () => {
  await using at = await startIntegrationJob()
  at.tracker.largestPage = 2
  at.tracker.repositories.set('group/sub/hello', [
    { number: 1, title: 'One', body: '![shot](/uploads/0f/shot.png)', labels: ['bug'] },
    { number: 2, title: 'Two', state: 'closed' },
    { number: 3, title: 'Three' },
    { number: 4, title: 'Four' },
  ])
  await at.integrate(gitlab)
  expect(await at.sync()).toEqual({ imported: 3, skipped: 0, errors: 0 })
  expect(await at.sync()).toEqual({ imported: 0, skipped: 3, errors: 0 })
  const [first, ...others] = await at.tasks()
  const page = `${at.tracker.url}/group/sub/hello`
  expect(first).toMatchObject({
    title: 'One',
    description: `![shot](${page}/uploads/0f/shot.png)`,
    labels: ['bug'],
    external_issue_number: 1,
    external_issue_url: `${page}/-/issues/1`,
  })
  expect(others.map(({ title }) => title)).toEqual(['Three', 'Four'])
  expect(at.tracker.requests[0]?.path).toBe('/api/v4/projects/group%2Fsub%2Fhello/issues')
})

test.each(['/-/issues/7', '/-/work_items/7'])('knows an issue that was linked by the page %s', async (page) => {
  await using at = await startIntegrationJob()
  const task = await at.job.task()
  const url = `${at.tracker.url}/Group/Sub/Hello${page}`
  const linked = await at.job.running.client.call('tasks.link', { task_id: task.id, url })
  expect(linked.task.external_issue_url).toBe(`${at.tracker.url}/Group/Sub/Hello/-/issues/7`)
  at.tracker.repositories.set('group/sub/hello', [{ number: 7, title: 'Known' }])
  await at.integrate(gitlab)
  expect(await at.sync()).toEqual({ imported: 0, skipped: 1, errors: 0 })
})

test('tells the path below which a GitLab runs from a group', async () => {
  await using at = await startIntegrationJob()
  await at.integrate({ ...gitlab, base_url: `${at.tracker.url}/lab` })
  const task = await at.job.task()
  const url = `${at.tracker.url}/lab/group/sub/hello/-/issues/7`
  await at.job.running.client.call('tasks.link', { task_id: task.id, url })
  at.tracker.repositories.set('group/sub/hello', [{ number: 7, title: 'Known' }])
  expect(await at.sync()).toEqual({ imported: 0, skipped: 1, errors: 0 })
})

test('refuses a group in a group where the platform has none', async () => {
  await using at = await startIntegrationJob()
  expect(await refused(at.integrate({ ...gitlab, platform: 'hosted' }))).toMatchObject({
    code: 'validation_failed',
    message: expect.stringContaining('GitHub has no groups in groups'),
  })
  expect(await refused(at.integrate({ ...gitlab, owner: 'group/../sub' }))).toMatchObject({ code: 'validation_failed' })
})
