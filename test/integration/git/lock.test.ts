import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identify } from '../../../src-main/platform/process/process.ts'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { ExecutionId } from '../../../src-shared/contract/ids.ts'

const one = ExecutionId.parse('01912d68-783e-7a03-8467-5661c1243ad5')
const two = ExecutionId.parse('01912d68-783e-7a03-8467-5661c1243ad6')
const workspaces = createWorkspaces()
let root = ''
let path = ''

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'copse lock '))
  path = join(root, 'project', 'task')
  await mkdir(path, { recursive: true })
})
afterEach(() => rm(root, { recursive: true }))

const lockFile = (): string => join(path, '.svc.lock')

test('tells a second execution who holds the lock', async () => {
  expect(await workspaces.lock(path, { execution_id: one, pid: null })).toBeNull()
  expect(await workspaces.lock(path, { execution_id: two, pid: null })).toEqual({ execution_id: one, pid: null })
  expect(await workspaces.readLock(path)).toEqual({ execution_id: one, pid: null })
})

test('grants the lock to exactly one of many', async () => {
  const asked = await Promise.all(
    [one, two, one, two].map((execution_id) => createWorkspaces().lock(path, { execution_id, pid: null })),
  )
  const winner = (await workspaces.readLock(path))?.execution_id
  expect(asked.filter((holder) => holder === null)).toHaveLength(2)
  expect(asked.filter((holder) => holder !== null).map((holder) => holder.execution_id)).toEqual([winner, winner])
})

test('lets the same execution take it again to name its process, and leaves nothing behind', async () => {
  await using child = await startChild()
  await workspaces.lock(path, { execution_id: one, pid: null })
  expect(await workspaces.lock(path, { execution_id: one, pid: child.pid })).toBeNull()
  expect(await workspaces.readLock(path)).toEqual({ execution_id: one, pid: child.pid })
  expect(await readdir(join(root, 'project'))).toEqual(['task'])
})

test('keeps the lock of an execution whose process ended before it was named', async () => {
  const child = await startChild()
  await child[Symbol.asyncDispose]()
  await workspaces.lock(path, { execution_id: one, pid: null })
  expect(await workspaces.lock(path, { execution_id: one, pid: child.pid })).toBeNull()
  expect(await workspaces.lock(path, { execution_id: two, pid: null })).toMatchObject({ execution_id: one })
  await workspaces.unlock(path, one)
  expect(await workspaces.lock(path, { execution_id: two, pid: null })).toBeNull()
})

test('lets only its execution release the lock, even twice', async () => {
  await workspaces.lock(path, { execution_id: one, pid: null })
  await workspaces.unlock(path, two)
  expect(existsSync(lockFile())).toBe(true)
  await workspaces.unlock(path, one)
  await workspaces.unlock(path, one)
  expect(await workspaces.readLock(path)).toBeNull()
})

test('takes over the lock of a process that has ended', async () => {
  const child = await startChild()
  await workspaces.lock(path, { execution_id: one, pid: child.pid })
  await child[Symbol.asyncDispose]()
  expect(await workspaces.readLock(path)).toBeNull()
  expect(await workspaces.lock(path, { execution_id: two, pid: null })).toBeNull()
  expect(await workspaces.readLock(path)).toEqual({ execution_id: two, pid: null })
})

test('does not confuse a reused pid with the process that held the lock', async () => {
  await using child = await startChild()
  const identity = await identify(child.pid)
  const written = {
    execution_id: one,
    pid: child.pid,
    holder: { pid: child.pid, started: `${identity?.started} earlier` },
  }
  await writeFile(lockFile(), JSON.stringify(written))
  expect(await workspaces.readLock(path)).toBeNull()
  expect(await workspaces.lock(path, { execution_id: two, pid: null })).toBeNull()
})

test.each(['', '{"execution_id":', '[]', '{"execution_id":"x"}'])(
  'gives a damaged lock file (%j) to no one',
  async (text) => {
    await writeFile(lockFile(), text)
    expect(await workspaces.readLock(path)).toBeNull()
    expect(await workspaces.lock(path, { execution_id: one, pid: null })).toBeNull()
    expect(JSON.parse(await readFile(lockFile(), 'utf8'))).toMatchObject({ execution_id: one })
  },
)

test('releases the locks of ended processes below the root, and no others', async () => {
  await using alive = await startChild()
  const dead = await startChild()
  const other = join(root, 'project', 'other')
  await mkdir(other)
  await workspaces.lock(path, { execution_id: one, pid: dead.pid })
  await workspaces.lock(other, { execution_id: two, pid: alive.pid })
  await dead[Symbol.asyncDispose]()
  expect(await workspaces.releaseStaleLocks(root)).toEqual([path])
  expect([existsSync(lockFile()), existsSync(join(other, '.svc.lock'))]).toEqual([false, true])
  expect(await workspaces.releaseStaleLocks(join(root, 'nowhere'))).toEqual([])
})

test('lists as orphans the folders of unknown tasks', async () => {
  await mkdir(join(root, 'project', 'lost'))
  await mkdir(join(root, 'gone project', 'task'), { recursive: true })
  await writeFile(join(root, 'project', 'a file'), '')
  expect(await workspaces.orphans(root, [path, join(root, 'not', 'there')])).toEqual([
    join(root, 'gone project', 'task'),
    join(root, 'project', 'lost'),
  ])
  expect(await workspaces.orphans(join(root, 'nowhere'), [])).toEqual([])
})

async function startChild(): Promise<AsyncDisposable & { readonly pid: number }> {
  const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
  await once(child, 'spawn')
  const exited = once(child, 'exit')
  return {
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      await exited
    },
  }
}
