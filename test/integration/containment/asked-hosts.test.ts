import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'

/** Ends once none of the hosts is refused any more: the proxy then says that there is no such host. */
const reach = (...hosts: readonly string[]): string =>
  `for host in ${hosts.join(' ')}; do
    for n in $(seq 200); do
      code=$(curl -s -o /dev/null -w '%{http_code}' -m 5 http://$host/); [ "$code" = 403 ] || break; sleep 0.05
    done
    [ "$code" = 403 ] && exit 1
  done; echo reached`

const limited = (job: Job, command: string): Promise<Agent> =>
  job.running.client.call('agents.create', {
    name: 'Limited',
    executor: 'command',
    config: { command, containment: 'worktree_and_hosts' },
  })

const current = (job: Job, { id }: Execution) => job.running.client.call('executions.get', { execution_id: id })

async function asked(job: Job, execution: Execution, host: string) {
  const { asks = [] } = await job.running.eventually(
    () => current(job, execution),
    ({ asks: all = [] }) => all.some(({ target }) => target === host),
  )
  expect(asks).toHaveLength(1)
  const [ask] = asks
  if (!ask) throw new Error('It asks nothing.')
  return ask
}

const answer = (job: Job, { id }: Execution, ask_id: string, option_id: string) =>
  job.running.client.call('executions.answer', { execution_id: id, ask_id, option_id })

const ended = (job: Job, execution: Execution) =>
  job.running.eventually(
    () => current(job, execution),
    ({ finished_at }) => finished_at !== null,
  )

async function end(job: Job, { execution, path }: Awaited<ReturnType<Job['claim']>>): Promise<void> {
  await writeFile(join(path, 'end'), '')
  await ended(job, execution)
}

describe.runIf(isContainable(containmentIn(folderOutside('asked'))))('a host that a run is kept from', () => {
  it('is asked for once, for the run or for the agent, and reached at the next try', async () => {
    await using job = await startJob()
    const agent = await limited(job, reach('once.test', 'always.test'))
    const { execution } = await job.claim(await job.task(), agent)
    const once = await asked(job, execution, 'once.test')
    expect(once).toMatchObject({ kind: 'permission', action: 'fetch', owner_only: true })
    await answer(job, execution, once.id, 'allow')
    const always = await asked(job, execution, 'always.test')
    await answer(job, execution, always.id, 'allow_always')
    expect((await ended(job, execution)).status).toBe('succeeded')
    const { config } = await job.running.client.call('agents.get', { agent_id: agent.id })
    expect(config.allowed_hosts).toEqual(['always.test'])
  })

  it('is let in by the agent’s owner or an admin alone', async () => {
    await using job = await startJob()
    const member = await register(job.running, 'Mia')
    await addMember(job.running, job.project.id, member.user_id, 'member')
    const { execution } = await job.claim(await job.task(), await limited(job, reach('member.test')))
    const { id: ask_id } = await asked(job, execution, 'member.test')
    const refused = member.client.call('executions.answer', { execution_id: execution.id, ask_id, option_id: 'allow' })
    await expect(refused).rejects.toMatchObject({ code: 'forbidden' })
    await answer(job, execution, ask_id, 'allow')
    expect((await ended(job, execution)).status).toBe('succeeded')
  })

  it('is not asked for again after a denial, and at most three are in a run', async () => {
    await using job = await startJob()
    const tries =
      'for host in no.test a.test b.test c.test; do curl -s -m 5 http://$host/; done; until [ -e end ]; do sleep 0.05; done'
    const agent = await job.running.client.call('agents.create', {
      name: 'Limited',
      executor: 'command',
      config: { command: tries, containment: 'worktree_and_hosts' },
    })
    const first = await job.claim(await job.task(), agent)
    for (const host of ['no.test', 'a.test', 'b.test']) {
      const { id } = await asked(job, first.execution, host)
      await answer(job, first.execution, id, 'reject')
    }
    expect((await current(job, first.execution)).asks).toBeUndefined()
    await end(job, first)
    const second = await job.claim(await job.task(), agent)
    await asked(job, second.execution, 'c.test')
    await end(job, second)
  })
})

describe('the hosts that builds need', () => {
  it('are the remotes’ and package registries', async () => {
    await using repository = await createTestRepository()
    for (const [name, url] of [
      ['ssh', 'git@forge.test:owner/name.git'],
      ['https', 'https://user:secret@Git.Other.test:8443/owner/name'],
      ['here', '/srv/git/name.git'],
      ['local', 'http://localhost:3000/name.git'],
    ] as const)
      await repository.git(['remote', 'add', name, url])
    await using job = await startJob()
    const { id: project_id } = await job.running.client.call('projects.create', {
      name: 'Remotes',
      repo_path: repository.path,
    })
    const { items } = await job.running.client.call('repos.build_hosts', { project_id })
    expect(items.slice(0, 2).toSorted()).toEqual(['forge.test', 'git.other.test'])
    expect(items).toContain('registry.npmjs.org')
    expect(items.join(' ')).not.toMatch(/secret|localhost|srv/)
  })
})
