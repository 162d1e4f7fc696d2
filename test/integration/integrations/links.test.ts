import { expect, test } from 'vitest'
import { startIntegrationJob } from '../../helpers/integration-job.ts'
import { refused, refusalOf } from '../../helpers/refusal.ts'

test('does not import an issue that was linked by hand', async () => {
  await using at = await startIntegrationJob()
  const { client } = at.job.running
  const task = await at.job.task()
  expect(task).toMatchObject({ external_issue_number: null, external_issue_url: null })
  const url = `${at.tracker.url}/Octo/Hello/issues/7`
  const linked = await client.call('tasks.link', { task_id: task.id, url: `${url}?tab=1#issuecomment-2` })
  expect(linked.task).toMatchObject({
    external_issue_number: 7,
    external_issue_url: url,
    version: task.version + 1,
  })
  expect(await client.call('tasks.get', { task_id: task.id })).toEqual(linked.task)
  // The link was added before the host's platform was known, and in another case.
  at.tracker.repositories.set('octo/hello', [
    { number: 7, title: 'Known' },
    { number: 8, title: 'New' },
  ])
  for (const platform of ['hosted', 'selfhosted'] as const) {
    await at.integrate({ platform })
    const expected = platform === 'hosted' ? { imported: 1, skipped: 1 } : { imported: 0, skipped: 2 }
    expect(await at.sync()).toEqual({ ...expected, errors: 0 })
    await client.call('integrations.delete', { project_id: at.job.project.id })
  }
})

test('links an issue to one task for good, and accepts the same link again', async () => {
  await using at = await startIntegrationJob()
  const { client } = at.job.running
  const [one, other] = [await at.job.task(), await at.job.task()]
  const link = (task_id: string, number: number) =>
    client.call('tasks.link', { task_id, url: `https://github.com/octo/hello/issues/${number}` })
  const first = await link(one.id, 1)
  expect((await link(one.id, 1)).task).toEqual(first.task)
  const again = await refused(link(one.id, 2))
  expect({ code: again.code, details: again.details }).toEqual({
    code: 'already_linked',
    details: { url: 'https://github.com/octo/hello/issues/1' },
  })
  const taken = await refused(link(other.id, 1))
  expect({ code: taken.code, status: taken.status, details: taken.details }).toEqual({
    code: 'already_linked',
    status: 409,
    details: { url: 'https://github.com/octo/hello/issues/1', task_id: one.id },
  })
  expect((await refused(link('01990000-0000-7000-8000-000000000000', 1))).code).toBe('not_found')
  expect(await refusalOf(client.call('tasks.link', { task_id: other.id, url: 'https://github.com/octo/hello' }))).toBe(
    'validation_failed',
  )
  await client.call('tasks.delete', { task_id: one.id })
  expect((await link(other.id, 1)).task.external_issue_number).toBe(1)
})

test('skips an issue that another project has imported, until that is deleted', async () => {
  await using at = await startIntegrationJob()
  const { client } = at.job.running
  at.tracker.repositories.set('octo/hello', [{ number: 1, title: 'One' }])
  await at.integrate()
  await at.sync()
  const second = await client.call('projects.create', { name: 'Second', repo_path: at.job.repository.path })
  await client.call('integrations.create', {
    project_id: second.id,
    platform: 'hosted',
    base_url: at.tracker.url,
    owner: 'octo',
    repo: 'hello',
    token_secret_ref: at.secret,
  })
  const sync = () => client.call('integrations.sync', { project_id: second.id })
  expect(await sync()).toEqual({ imported: 0, skipped: 1, errors: 0 })
  await client.call('projects.delete', { project_id: at.job.project.id })
  expect(await sync()).toEqual({ imported: 1, skipped: 0, errors: 0 })
})
