import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DataDirLockedError, lockDataDir } from '../../../../src-main/platform/locks/single-instance.ts'

const module = new URL('../../../../src-main/platform/locks/single-instance.ts', import.meta.url).href

async function dataFolder() {
  const path = await mkdtemp(join(tmpdir(), 'copse-lock-'))
  return {
    path,
    lock: join(path, 'copse.lock'),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

/** A process that holds the folder until it is killed. */
async function holder(folder: string) {
  const code = `const { lockDataDir } = await import(${JSON.stringify(module)})
    lockDataDir(${JSON.stringify(folder)}); console.log('held'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return {
    pid: child.pid ?? 0,
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('refuses a folder that another process holds, by its pid, until that is killed', async () => {
  await using folder = await dataFolder()
  const other = await holder(folder.path)
  expect(() => lockDataDir(folder.path)).toThrow(DataDirLockedError)
  expect(() => lockDataDir(folder.path)).toThrow(`process ${other.pid}`)
  await other.kill()
  using held = lockDataDir(folder.path)
  expect(held).toBeDefined()
  expect(await readdir(folder.path)).toEqual(['copse.lock'])
})

test('ignores a pid that now belongs to another process', async () => {
  await using folder = await dataFolder()
  const lock = { pid: process.ppid, host: hostname(), since: '2026-11-21T09:30:00.000Z', started: 'long before' }
  await writeFile(folder.lock, JSON.stringify(lock))
  using held = lockDataDir(folder.path)
  expect(held).toBeDefined()
})

test('takes over a lock that a power loss cut short', async () => {
  await using folder = await dataFolder()
  await writeFile(folder.lock, '{"pid":12')
  using held = lockDataDir(folder.path)
  expect(held).toBeDefined()
})

test('never takes over another machine’s lock, and says what to do', async () => {
  await using folder = await dataFolder()
  const lock = { pid: 1, host: 'elsewhere', since: '2026-11-21T09:30:00.000Z', started: null }
  await writeFile(folder.lock, JSON.stringify(lock))
  expect(() => lockDataDir(folder.path)).toThrow(`process 1 on elsewhere (if that is not so, delete ${folder.lock})`)
})

test('releases its own lock once, and no one else’s', async () => {
  await using folder = await dataFolder()
  const first = lockDataDir(folder.path)
  first[Symbol.dispose]()
  expect(await readdir(folder.path)).toEqual([])
  using second = lockDataDir(folder.path)
  const text = await readFile(folder.lock, 'utf8')
  await writeFile(folder.lock, text.replace('"pid":', '"pid": '))
  second[Symbol.dispose]()
  expect(await readdir(folder.path)).toEqual(['copse.lock'])
})

test('gives the folder to exactly one of many starts on a stale lock', async () => {
  await using folder = await dataFolder()
  await writeFile(folder.lock, '{}')
  const code = `const { lockDataDir } = await import(${JSON.stringify(module)})
    try { lockDataDir(${JSON.stringify(folder.path)}); console.log('held') } catch (error) { console.log(error.code) }
    process.stdin.on('data', () => process.exit(0))`
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  const said = await Promise.all(children.map(async (child) => String((await once(child.stdout, 'data'))[0]).trim()))
  for (const child of children) child.stdin.write('end')
  await Promise.all(children.map((child) => once(child, 'exit')))
  expect(said.sort()).toEqual([...Array.from({ length: 5 }, () => 'data_dir_held'), 'held'])
})
