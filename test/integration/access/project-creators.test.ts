import { expect, test } from 'vitest'
import { codeOf } from '../../helpers/asking.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { register } from '../../helpers/membership.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'

test('lets only admins create projects, repositories and agents on an exposed service by default', async () => {
  await using repository = await createTestRepository()
  await using other = await createTestRepository()
  const exposed = { registration: 'open', expose: true } as const
  const tries = async (running: RunningApp) => {
    const admin = running.client
    const bob = (await register(running, 'Bob')).client
    const project = await admin.call('projects.create', { name: 'Job', repo_path: repository.path })
    await admin.call('members.add', { project_id: project.id, email: 'bob@copse.test', role: 'owner' })
    return [
      await codeOf(bob.call('projects.create', { name: 'Own', repo_path: repository.path })),
      await codeOf(bob.call('repos.add', { project_id: project.id, path: other.path })),
      await codeOf(bob.call('agents.create', { name: 'A', executor: 'command', config: { command: 'true' } })),
    ]
  }
  await using closed = await runApp({ config: exposed })
  expect(await tries(closed)).toEqual(Array<string>(3).fill('admin_required'))
  await using free = await runApp({ config: { ...exposed, projectCreators: 'all' } })
  expect(await tries(free)).toEqual(Array<string>(3).fill('done'))
  await using strict = await runApp({ config: { projectCreators: 'admins' } })
  expect(await tries(strict)).toEqual(Array<string>(3).fill('admin_required'))
})
