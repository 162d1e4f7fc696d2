import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Runner } from '../../../src-shared/contract/runners.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { sshd } from '../../fakes/git-ssh-server.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { startTestSshd } from '../../helpers/test-sshd.ts'
import { startWorld, type SvcWorld } from './svc-process.ts'

let world: SvcWorld
let repository: TestRepository
const here = () => ({ cwd: repository.path })
const json = <T>(...args: readonly string[]) => world.json<T>(args, here())
const svc = (...args: readonly string[]) => world.svc(args, here())

beforeAll(async () => {
  repository = await createTestRepository()
  world = await startWorld()
  await json('project', 'add', '--name', 'Shop')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await repository[Symbol.asyncDispose]()
})

test('adds, lists, checks and removes runners, and claims a task for one', async () => {
  await json<Agent>('agent', 'add', 'Claude', '--executor', 'command', '--command', 'true')
  const added = await json<{ runner: Runner }>(
    ...['runner', 'add', 'Box', '--image', 'none/such:1', '--engine', 'unix:///no/such.sock', '--cpus', '0.5'],
    ...['--memory', '512', '--network', 'none', '--read', '/usr/share', '--setup', 'true', '--capacity', '2'],
    ...['--project', 'Shop'],
  )
  expect(added.runner).toMatchObject({
    name: 'Box',
    kind: 'container',
    capacity: 2,
    state: 'unreachable',
    projects: [expect.any(String)],
    config: {
      engine: 'unix:///no/such.sock',
      image: 'none/such:1',
      cpus: 0.5,
      memory_mb: 512,
      network: 'none',
      mounts: { read: ['/usr/share'] },
      setup: ['true'],
    },
  })
  const list = await svc('runner', 'list')
  expect(list.stdout).toMatch(/^ID +NAME +TYPE +STATE +RUNS\nhere +This machine +here +ready +0\n/)
  expect(list.stdout).toMatch(/\n\S{8} +Box +container +unreachable +0 of 2\n$/)
  const checked = await svc('runner', 'check', 'box')
  expect(checked).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/failed .*\nBox isn't ready\.\n$/s) as string,
  })
  await json('task', 'create', 'One')
  const claimed = await svc('task', 'claim', 'SHO-1', '--agent', 'Claude', '--on', 'Box')
  expect(claimed).toMatchObject({ code: 1, stderr: expect.stringContaining("Box can't be reached.") as string })
  const waits = await svc('task', 'claim', 'SHO-1', '--agent', 'Claude', '--on', 'Box', '--wait')
  expect(waits.stdout).toContain('Claude waits (runner unreachable) to work on it')
  const busy = await svc('runner', 'remove', 'Box')
  expect(busy).toMatchObject({ code: 1, stderr: expect.stringContaining('named by a queued task') as string })
  await svc('task', 'stop', 'SHO-1')
  expect(await svc('runner', 'remove', 'Box')).toMatchObject({ code: 0, stdout: 'Removed Box.\n' })
  const refused = await svc('runner', 'add', 'Far', '--kind', 'kubernetes', '--image', 'any')
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('needs a `namespace`') as string })
})

test('tells what a dev container wants to reach, and trusts it', async () => {
  await repository.commit('Use a dev container', {
    '.devcontainer.json': '{ "image": "any", /* for caches */ "mounts": ["source=cache,target=/cache,type=volume"], }',
  })
  await json<Agent>('agent', 'add', 'Codex', '--executor', 'command', '--command', 'true')
  const { runner } = await json<{ runner: Runner }>(
    ...['runner', 'add', 'Dev', '--devcontainer', '--engine', 'unix:///no/such.sock'],
  )
  expect(runner.config).toMatchObject({ devcontainer: true })
  const task = await json<{ ref: string }>('task', 'create', 'Two')
  const claim = () => svc('task', 'claim', task.ref, '--agent', 'Codex', '--on', 'Dev', '--wait')
  const { code, stderr } = await claim()
  expect(code).toBe(1)
  expect(stderr).toContain('.devcontainer.json wants to reach the machine of Dev. An admin must trust it first.')
  expect(stderr).toContain('\n  mount: source=cache,target=/cache,type=volume\n')
  const [, command = ''] = /`svc ([^`]+)`/.exec(stderr) ?? []
  expect(await svc(...command.split(' '))).toMatchObject({
    code: 0,
    stdout: 'The dev container of Shop is trusted on Dev.\n',
  })
  expect((await claim()).stdout).toContain('Codex waits (runner unreachable) to work on it')
  await svc('task', 'stop', task.ref)
  expect(await svc('runner', 'trust', 'Dev', 'abc')).toMatchObject({ code: 1 })
})

test.runIf(sshd !== null)(
  'starts a program on an SSH runner in this terminal, and says what to do for others',
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'copse-far-'))
    await using server = await startTestSshd(home)
    const config = { host: 'far', ssh_config: server.ssh_config }
    const runner = await world.client.call('runners.create', { name: 'Far', kind: 'ssh', config })
    const signedIn = await svc(
      'runner',
      'login',
      'Far',
      '--',
      'sh',
      '-c',
      'read it; echo "$it for $0" > "$HOME/signed"',
      "it's",
    )
    expect(signedIn.code).toBe(0)
    expect(await readFile(join(home, 'signed'), 'utf8')).toBe(" for it's\n")
    expect((await svc('runner', 'login', 'Far', 'false')).code).toBe(1)
    expect(await svc('runner', 'login', 'here')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('This is your own machine.') as string,
    })
    await world.client.call('runners.check', { runner_id: runner.id })
    const { ref } = await json<{ ref: string }>('task', 'create', 'Three')
    const claimed = await svc('task', 'claim', ref, '--agent', 'Claude', '--on', 'Far')
    // No folder of this machine; the runner, once one has it.
    expect(claimed.stdout).toMatch(/Claude (?:works|waits .+ to work) on it(?: on Far)?\.\n/)
    await svc('task', 'logs', ref, '--follow')
    expect((await svc('task', 'show', ref)).stdout).toMatch(/^runs on +Far$/m)
    await world.client.call('runners.delete', { runner_id: runner.id })
    await expect.poll(() => processesIn([home])).toEqual([])
    await rm(home, { recursive: true, force: true })
  },
)
