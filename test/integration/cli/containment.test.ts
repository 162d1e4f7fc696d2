import { expect, test } from 'vitest'
import type { Agent, ProjectSettings } from '../../../src-shared/contract/projects.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { readMachine } from '../../../src-main/containment/machine.ts'
import { startWorld } from './svc-process.ts'

test('contains an agent and a project’s scripts, with extra paths and hosts', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const added = await world.json<Agent>([
    ...['agent', 'add', 'Careful', '--executor', 'command', '--command', 'true'],
    ...['--containment', 'worktree_and_hosts', '--allow-host', 'a.test', '--allow-write', '~/out'],
  ])
  const lists = { allowed_hosts: ['a.test'], extra_paths: { write: ['~/out'] } }
  expect(added.config).toMatchObject({ containment: 'worktree_and_hosts', ...lists })
  const listed = await world.svc(['agent', 'list'])
  expect(listed.stdout).toMatch(/CONTAINMENT[^]*Careful\s+command\s+worktree_and_hosts/)
  const changed = await world.json<Agent>(['agent', 'contain', 'Careful', 'none', '--allow-read', '/srv/models'])
  expect(changed.config).toEqual({
    command: 'true',
    containment: 'none',
    allowed_hosts: ['a.test'],
    extra_paths: { read: ['/srv/models'], write: ['~/out'] },
  })
  const settings = await world.json<ProjectSettings>(['project', 'contain', 'worktree', '--allow-host', 'b.test'], here)
  expect(settings).toMatchObject({ ci_containment: 'worktree', allowed_hosts: ['b.test'] })
  await repository.git(['remote', 'add', 'origin', 'git@forge.test:me/shop.git'])
  const built = await world.json<ProjectSettings>(
    ['project', 'contain', 'worktree_and_hosts', '--allow-build-hosts', '--allow-host', 'c.test'],
    here,
  )
  expect(built.allowed_hosts.slice(0, 2)).toEqual(['c.test', 'forge.test'])
  expect(built.allowed_hosts).toContain('registry.npmjs.org')
  const builder = await world.json<Agent>(
    ['agent', 'contain', 'Careful', 'worktree_and_hosts', '--allow-build-hosts'],
    here,
  )
  expect(builder.config.allowed_hosts?.slice(0, 2)).toEqual(['a.test', 'forge.test'])
  const said = await world.svc(['project', 'contain', 'auto', 'Shop'])
  expect(said.stdout).toBe('The scripts of Shop are contained to the worktree where the machine can.\n')
  expect(said.stderr).not.toBe('')
  const wrong = await world.svc(['agent', 'contain', 'Careful', 'worktree', '--allow-read', world.home])
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('data folder') as string })
  const open = await world.svc(['project', 'contain', 'worktree_and_hosts', 'Shop', '--allow-host', 'localhost'])
  expect(open).toMatchObject({ code: 1, stderr: expect.stringContaining('127.0.0.1 needs a port') as string })
})

test.runIf(readMachine().available)('tells the telemetry that a run was kept from in one line', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const command =
    'for host in sentry.io denied.test us.i.posthog.com sentry.io; do curl -s -m 5 http://$host/; done; true'
  await world.json([
    ...['agent', 'add', 'Curious', '--executor', 'command', '--command', command],
    ...['--containment', 'worktree_and_hosts'],
  ])
  const { id } = await world.json<{ readonly id: string }>(['task', 'create', 'Look around'], here)
  await world.svc(['task', 'claim', id, '--agent', 'Curious'])
  for (const options of [['-f'], []]) {
    const { stdout } = await world.svc(['task', 'logs', id, ...options])
    expect(stdout.match(/^- Blocked.*$/gm)).toEqual([
      '- Blocked host denied.test. Add it to the agent’s allowed_hosts to allow it.',
      '- Blocked the vendor’s telemetry (2 hosts): sentry.io, us.i.posthog.com.',
    ])
  }
  const { stdout } = await world.svc(['task', 'logs', id, '--json'])
  expect(stdout.match(/"target":\s*"[^"]+"/g)).toHaveLength(4)
})
