import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Overlap } from '../../../src-shared/contract/overlaps.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('lists tasks that would conflict with their files, for people and as JSON', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  expect(await world.svc(['overlaps'], here)).toMatchObject({ code: 0, stdout: 'No tasks overlap.\n' })
  const tasks: Task[] = []
  for (const title of ['One', 'Other']) {
    const task = await world.json<Task>(['task', 'create', title], here)
    const { workspace } = await world.client.call('tasks.claim', { task_id: task.id })
    await writeFile(join(workspace?.path ?? '', 'README.md'), `# ${title}\n`)
    tasks.push(task)
  }
  const read = async () => (await world.json<{ items: Overlap[] }>(['overlaps', 'Shop'])).items
  await expect.poll(read, { timeout: 100_000 }).toHaveLength(1)
  const [one, other] = tasks.toSorted((first, second) => (first.id < second.id ? -1 : 1))
  expect(await read()).toEqual([{ a: one?.id, b: other?.id, kind: 'conflict', files: ['README.md'] }])
  const { code, stdout } = await world.svc(['overlaps'], here)
  expect([code, stdout.replaceAll(/ +/g, ' ')]).toEqual([
    0,
    `TASK WITH WHAT FILES\n${one?.ref} ${other?.ref} conflict README.md\n`,
  ])
  expect(await world.svc(['overlaps', 'Nowhere'], here)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Nowhere') as string,
  })
})

test('says which tasks conflict with their base, and in which files', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const config = { command: 'echo theirs > README.md; echo done' }
  const agent = await world.client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const task = await world.json<Task>(['task', 'create', 'One'], here)
  await world.client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const list = async () => (await world.svc(['task', 'list'], here)).stdout
  await expect.poll(list, { timeout: 100_000 }).toContain('passed')
  await repository.commit('Meanwhile', { 'README.md': 'mine\n' })
  await expect.poll(list, { timeout: 100_000 }).toContain('conflicts with its base')
  expect((await world.svc(['task', 'show', task.ref], here)).stdout).toMatch(/conflicts in +README\.md\n/)
  const { stdout } = await world.svc(['task', 'conflicts', task.ref], here)
  expect(stdout).toMatch(
    /^README\.md\n {2}main: [0-9a-f]{8} “Meanwhile”, \S.*\n<{7} main\nmine\n={7}\ntheirs\n>{7} svc/,
  )
  await repository.git(['reset', '--quiet', '--hard', 'HEAD~1'])
  expect(await world.svc(['task', 'conflicts', task.ref], here)).toMatchObject({
    code: 0,
    stdout: 'It would merge into main now.\n',
  })
})
