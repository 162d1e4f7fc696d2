import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer, text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockDataDir } from '../../../src-main/platform/locks/single-instance.ts'
import { createClient } from '../../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../../src-shared/client/http-transport.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { runApp } from '../../helpers/running-app.ts'
import { canMount, smallDisk } from '../git/small-disk.ts'
import { cliFile, endOf, startOnTerminal, startSvc, startWorld } from './svc-process.ts'

let folder: string
/** The data folder of a stopped service with one project, and a backup of it. */
let dataDir: string
let file: string
let project_id: string
const logName = join('logs', 'task', 'agent.log')

const svc = (args: readonly string[], stdin?: string) => endOf(startSvc(args, {}), stdin)
const fresh = () => mkdtemp(join(folder, 'case-'))
const copiesIn = async (of: string) => (await readdir(of)).filter((name) => name.includes('.backup-'))
const partsIn = async (of: string) => (await readdir(of)).filter((name) => name.includes('.part-'))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copse-backup-'))
  await using running = await runApp({ keepData: true })
  dataDir = running.dataDir
  await using repository = await createTestRepository()
  const project = await running.client.call('projects.create', { name: 'Shop', repo_path: repository.path })
  project_id = project.id
  await running.client.call('tasks.create', { project_id, title: 'Sell apples' })
  await mkdir(join(dataDir, 'logs', 'task'), { recursive: true })
  // Can't be compressed, so that a backup takes a while.
  await writeFile(join(dataDir, logName), randomBytes(24 << 20))
  await running.app.close()
  file = join(folder, 'shop.tar.gz')
  expect((await svc(['backup', file, '--data-dir', dataDir])).code).toBe(0)
})
afterAll(async () => {
  for (const one of [folder, dataDir]) await rm(one, { recursive: true, force: true, maxRetries: 5 })
})

/** Starts the service on a data folder; returns its address. */
async function serveOn(path: string): Promise<AsyncDisposable & { readonly url: string }> {
  const service = startSvc(['serve', '--port', '0', '--data-dir', path, '--json'], { env: { SVC_LOG_LEVEL: 'silent' } })
  const exited = once(service, 'exit')
  const [line] = (await once(createInterface({ input: service.stdout }), 'line')) as [string]
  return {
    url: (JSON.parse(line) as { url: string }).url,
    [Symbol.asyncDispose]: async () => {
      service.kill()
      await exited
    },
  }
}

const clientAt = (url: string, token: string) =>
  createClient(createHttpTransport({ baseUrl: url, getToken: () => token }))

test('backs up one state of a service that is written to, and restores all of it', async () => {
  await using world = await startWorld()
  await using repository = await createTestRepository()
  const { client } = world
  const project = await client.call('projects.create', { name: 'Shop', repo_path: repository.path })
  const create = (n: number) =>
    client.call('tasks.create', { project_id: project.id, title: `Task ${n}`, description: 'x'.repeat(40_000) })
  await create(1)
  const picture = randomBytes(3_000)
  const kept = await client.call('attachments.create', {
    project_id: project.id,
    name: 'a.bin',
    data_base64: picture.toString('base64'),
  })
  const { token: pat } = await client.call('auth.create_token', { name: 'ci' })
  let written = 1
  while (written < 150) await create(++written)
  const before = written
  const ending = new AbortController()
  const writing = (async () => {
    while (!ending.signal.aborted) await create(++written)
  })()
  const at = join(world.home, 'live.tar.gz')
  const made = await svc(['backup', at, '--data-dir', join(world.home, 'service'), '--json'])
  const after = written
  ending.abort()
  await writing
  expect(made.code, made.stderr).toBe(0)
  expect(JSON.parse(made.stdout)).toMatchObject({ event: 'backup_made', file: at })
  expect((await stat(at)).mode & 0o777).toBe(0o600)
  expect(after).toBeGreaterThan(before)
  expect(await copiesIn(join(world.home, 'service'))).toEqual([])

  const target = join(world.home, 'restored')
  const put = await svc(['restore', at, '--data-dir', target])
  expect(put.code, put.stderr).toBe(0)
  await using again = await serveOn(target)
  // The session's token was signed with the key of the first service.
  for (const token of [world.token, pat]) {
    const restored = clientAt(again.url, token)
    expect((await restored.call('auth.me', {})).handle).toBe('owner')
    const response = await fetch(`${again.url}/api/v1/attachments/${kept.id}/content`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(picture)).toBe(true)
    const { items } = await restored.call('tasks.list', { project_id: project.id, limit: 200 })
    expect(items.length).toBeGreaterThanOrEqual(before)
    expect(items.length).toBeLessThanOrEqual(after)
    const numbers = items.map(({ number }) => number).toSorted((one, other) => one - other)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  }
})

test('leaves the backup of before under its name when it is killed, and clears up the next time', async () => {
  const at = await fresh()
  const name = join(at, 'copse.tar.gz')
  await writeFile(name, 'an earlier backup')
  const child = spawn(process.execPath, [cliFile, 'backup', name, '--data-dir', dataDir], { stdio: 'ignore' })
  await expect.poll(() => partsIn(at)).toHaveLength(1)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await readFile(name, 'utf8')).toBe('an earlier backup')
  const [part = ''] = await partsIn(at)
  const left = [join(at, part), ...(await copiesIn(dataDir)).map((one) => join(dataDir, one))]
  expect(left).toHaveLength(2)
  const long = new Date(Date.now() - 2 * 3_600_000)
  for (const one of left) {
    expect((await stat(one)).mode & 0o777).toBe(0o600)
    await utimes(one, long, long)
  }
  expect((await svc(['backup', name, '--data-dir', dataDir])).code).toBe(0)
  expect([await readdir(at), await copiesIn(dataDir)]).toEqual([['copse.tar.gz'], []])
})

test('leaves nothing when it is interrupted', async () => {
  const at = await fresh()
  const child = startSvc(['backup', join(at, 'copse.tar.gz'), '--data-dir', dataDir], {})
  const ended = endOf(child)
  await expect.poll(() => partsIn(at)).toHaveLength(1)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 1, stderr: 'copse: Stopped. Nothing was changed.\n' })
  expect([await readdir(at), await copiesIn(dataDir)]).toEqual([[], []])
})

test.runIf(canMount)('says that the disk is full, and leaves nothing there', async () => {
  await using disk = await smallDisk(4)
  const full = await svc(['backup', join(disk.path, 'copse.tar.gz'), '--data-dir', dataDir])
  expect(full).toMatchObject({ code: 1, stderr: expect.stringContaining('The disk is full.') as string })
  expect(await readdir(disk.path)).toEqual([])
  const target = join(disk.path, 'data')
  const restored = await svc(['restore', file, '--data-dir', target])
  expect(restored).toMatchObject({ code: 1, stderr: expect.stringContaining('The disk is full.') as string })
  expect(await readdir(target)).toEqual([])
})

test('goes through a pipe, out and in', async () => {
  const out = startSvc(['backup', '-', '--data-dir', dataDir], {})
  const bytes = await buffer(out.stdout)
  const target = join(await fresh(), 'data')
  const back = startSvc(['restore', '-', '--data-dir', target, '--json'], {})
  const ended = once(back, 'exit')
  back.stdin.end(bytes)
  expect(await ended).toEqual([0, null])
  expect((await readFile(join(target, logName))).equals(await readFile(join(dataDir, logName)))).toBe(true)
  const key = join('secrets', 'jwt.key')
  expect((await readFile(join(target, key))).equals(await readFile(join(dataDir, key)))).toBe(true)
  expect((await readdir(target)).toSorted()).toEqual(['copse.db', 'logs', 'secrets', 'workflows'])
  for (const name of ['copse.db', key, logName]) expect((await stat(join(target, name))).mode & 0o777).toBe(0o600)
})

test('fails when the reader of its output is gone', async () => {
  const out = startSvc(['backup', '-', '--data-dir', dataDir], {})
  const [stderr, ended] = [text(out.stderr), once(out, 'exit')]
  await once(out.stdout, 'data')
  out.stdout.destroy()
  expect([await ended, await stderr]).toEqual([[1, null], expect.stringContaining('nothing reads the output')])
  expect(await copiesIn(dataDir)).toEqual([])
})

test('shows its progress on a terminal, where it writes no backup', async () => {
  const at = join(await fresh(), 'copse.tar.gz')
  const making = startOnTerminal(['backup', at, '--data-dir', dataDir], {})
  await making.waitFor(/Copying the database: \d+ %/)
  await making.waitFor(/Writing file \d+ of \d+/)
  expect([await making.exit, making.shown()]).toEqual([0, expect.stringContaining(`Backup written to ${at}`)])
  const putting = startOnTerminal(['restore', at, '--data-dir', join(await fresh(), 'data')], {})
  await putting.waitFor(/Reading the backup: \d+ %/)
  expect(await putting.exit).toBe(0)
  const refused = startOnTerminal(['backup', '-', '--data-dir', dataDir], {})
  expect([await refused.exit, refused.shown()]).toEqual([1, expect.stringContaining("A terminal can't keep a backup.")])
})

test('refuses to back up a folder without data, and a database that is damaged', async () => {
  const empty = await fresh()
  const none = await svc(['backup', join(empty, 'a.tar.gz'), '--data-dir', empty])
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no data in') as string })
  const torn = await fresh()
  const bytes = await readFile(join(dataDir, 'copse.db'))
  bytes.fill(0x5a, 16_384, 65_536)
  await writeFile(join(torn, 'copse.db'), bytes)
  const refused = await svc(['backup', join(empty, 'a.tar.gz'), '--data-dir', torn])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is damaged') as string })
  expect(await readdir(empty)).toEqual([])
})

test('refuses to restore under a running service, and over data, unless it is moved aside', async () => {
  const target = await fresh()
  {
    using _ = lockDataDir(target)
    const held = await svc(['restore', file, '--data-dir', target])
    expect(held).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use by process') as string })
  }
  await writeFile(join(target, 'copse.db'), 'old')
  await writeFile(join(target, 'copse.db-wal'), 'old journal')
  await mkdir(join(target, 'workspaces'))
  const refused = await svc(['restore', file, '--data-dir', target])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--replace') as string })
  expect((await readdir(target)).toSorted()).toEqual(['copse.db', 'copse.db-wal', 'workspaces'])
  const put = await svc(['restore', file, '--data-dir', target, '--replace', '--json'])
  expect(put.code, put.stderr).toBe(0)
  const { replaced } = JSON.parse(put.stdout) as { replaced: string }
  expect(await readFile(join(replaced, 'copse.db'), 'utf8')).toBe('old')
  expect(await readFile(join(replaced, 'copse.db-wal'), 'utf8')).toBe('old journal')
  expect((await readdir(target)).filter((name) => !name.startsWith('replaced-')).toSorted()).toEqual([
    'copse.db',
    'logs',
    'secrets',
    'workflows',
    'workspaces',
  ])
  await using running = await runApp({ dataDir: target, keepData: true })
  const { items } = await running.client.call('tasks.list', { project_id })
  expect(items.map(({ title }) => title)).toEqual(['Sell apples'])
})

/** A compressed tar file with these entries. */
async function tarOf(entries: readonly (readonly [name: string, content: string])[]): Promise<Buffer> {
  const archive = pack()
  for (const [name, content] of entries) archive.entry({ name }, content)
  archive.finalize()
  return gzipSync(await buffer(archive))
}

const about = (values: object) =>
  JSON.stringify({ format: 1, version: '9.9.9', made_at: '2030-01-01', migrations: 1, ...values })

test('refuses a file that is foreign, damaged, cut off or of a newer Copse, and changes nothing', async () => {
  const whole = await readFile(file)
  const flipped = Buffer.from(whole)
  const middle = flipped.length >> 1
  flipped[middle] = (flipped[middle] ?? 0) ^ 0xff
  const leading = await tarOf([
    ['copse-backup.json', about({})],
    ['../escaped', 'x'],
    ['SHA256SUMS', ''],
  ])
  const wrongSum = await tarOf([
    ['copse-backup.json', about({})],
    ['copse.db', 'x'],
    ['SHA256SUMS', `${'0'.repeat(64)}  copse.db\n`],
  ])
  const cases: readonly (readonly [content: Uint8Array, words: string])[] = [
    [Buffer.from('A letter to the bank'), "isn't a backup of Copse"],
    [new Uint8Array(), "isn't a backup of Copse"],
    [await tarOf([['letter.txt', 'Dear bank']]), "isn't a backup of Copse"],
    [leading, "isn't a backup of Copse"],
    [flipped, 'is damaged or incomplete'],
    [whole.subarray(0, middle), 'is damaged or incomplete'],
    [wrongSum, 'is damaged or incomplete'],
    [await tarOf([['copse-backup.json', about({})]]), 'is damaged or incomplete'],
    [await tarOf([['copse-backup.json', about({ format: 2 })]]), 'was made by a newer Copse (9.9.9)'],
    [await tarOf([['copse-backup.json', about({ migrations: 9_999 })]]), 'was made by a newer Copse (9.9.9)'],
  ]
  const at = await fresh()
  const target = join(at, 'data')
  for (const [content, words] of cases) {
    await writeFile(join(at, 'given.tar.gz'), content)
    const refused = await svc(['restore', join(at, 'given.tar.gz'), '--data-dir', target])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(words) as string })
    expect(refused.stderr.trim().split('\n')).toHaveLength(1)
    expect(await readdir(target)).toEqual([])
  }
  expect(await readdir(at)).toEqual(['data', 'given.tar.gz'])
  const missing = await svc(['restore', join(at, 'none.tar.gz'), '--data-dir', target])
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("doesn't exist") as string })
})
