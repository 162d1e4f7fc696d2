import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import { startJob } from '../../helpers/job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { seededRandom, type SeededRandom } from '../../helpers/seeded-random.ts'

/** Lines far enough apart that each change of one is a hunk of its own. */
const lines = (word: string, count = 40) => Array.from({ length: count }, (_, at) => `${word} ${at}`)
const textOf = (all: readonly string[]) => all.map((line) => `${line}\n`).join('')

async function worked(files: Readonly<Record<string, string>>) {
  const job = await startJob({ files })
  const task = await job.task()
  const { client } = job.running
  const { workspace } = await client.call('tasks.claim', { task_id: task.id })
  const path = workspace?.path ?? ''
  return {
    job,
    client,
    task_id: task.id,
    path,
    write: (now: Record<string, string>) => job.repository.write(now, path),
  }
}

const hunksOf = async (client: Client, task_id: string) =>
  (await client.call('tasks.chapters', { task_id })).chapters.flatMap(({ hunks }) => hunks)
const mark = (client: Client, task_id: string, hunks: readonly { readonly id: string }[], viewed = true) =>
  client.call('tasks.mark_viewed', { task_id, hunks: hunks.map(({ id }) => id), viewed })
const viewedFiles = async (client: Client, task_id: string) =>
  (await client.call('tasks.diff', { task_id, scope: 'branch' })).files.map(({ path, viewed }) => [path, viewed])
/** The first new line of each hunk, and whether it is viewed. */
const marksOf = async (client: Client, task_id: string) =>
  (await hunksOf(client, task_id))
    .map(({ path, new: [line], viewed }) => `${path}:${line} ${viewed ? 'viewed' : 'new'}`)
    .toSorted()

test.concurrent('a file is viewed when all of its hunks are, and the other way round', async () => {
  const before = lines('a')
  const { job, client, task_id, write } = await worked({ 'a.txt': textOf(before), 'b.txt': 'b\n' })
  await using _ = job
  await write({ 'a.txt': textOf(before.with(4, 'one').with(20, 'two')), 'b.txt': 'b2\n' })
  const [first, second] = (await hunksOf(client, task_id)).filter(({ path }) => path === 'a.txt')
  if (!first || !second) throw new Error('The change has no two hunks.')
  await mark(client, task_id, [first])
  expect(await viewedFiles(client, task_id)).toEqual([
    ['a.txt', false],
    ['b.txt', false],
  ])
  await mark(client, task_id, [second])
  expect(await viewedFiles(client, task_id)).toEqual([
    ['a.txt', true],
    ['b.txt', false],
  ])
  await mark(client, task_id, [first], false)
  expect(await viewedFiles(client, task_id)).toContainEqual(['a.txt', false])
  expect(await marksOf(client, task_id)).toEqual(['a.txt:21 viewed', 'a.txt:5 new', 'b.txt:1 new'])

  const { files } = await client.call('tasks.diff', { task_id, scope: 'branch' })
  const named = files.map(({ path, blob, new_mode }) => ({ path, blob, new_mode }))
  await client.call('tasks.mark_viewed', { task_id, files: named, viewed: true })
  expect(await marksOf(client, task_id)).toEqual(['a.txt:21 viewed', 'a.txt:5 viewed', 'b.txt:1 viewed'])
  // What a later change leaves as it was stays viewed, though the file was marked as a whole.
  await write({ 'a.txt': textOf(before.with(4, 'one').with(20, 'other')) })
  expect(await marksOf(client, task_id)).toEqual(['a.txt:21 new', 'a.txt:5 viewed', 'b.txt:1 viewed'])
  // Without the only hunk that is new, nothing is left to view.
  await write({ 'a.txt': textOf(before.with(4, 'one')) })
  expect(await viewedFiles(client, task_id)).toContainEqual(['a.txt', true])
  await client.call('tasks.mark_viewed', { task_id, files: named, viewed: false })
  expect(await marksOf(client, task_id)).toEqual(['a.txt:5 new', 'b.txt:1 new'])
  await write({ 'a.txt': textOf(before.with(4, 'one').with(20, 'two')) })
  expect(await marksOf(client, task_id)).toEqual(['a.txt:21 new', 'a.txt:5 new', 'b.txt:1 new'])
})

test('100 random edits of a branch take exactly the marks of the hunks that changed', async () => {
  const random = seededRandom(49)
  const contents = new Map(['a.txt', 'b.txt', 'src/c.txt'].map((path) => [path, lines(path, 60)]))
  const files = Object.fromEntries([...contents].map(([path, all]) => [path, textOf(all)]))
  const { job, client, task_id, path: folder, write } = await worked(files)
  await using _ = job
  const byGit = () => job.repository.git(['diff', '--unified=0', '--histogram', 'main'], { cwd: folder })
  for (let step = 0; step < 12; step += 1) edit(random, contents)
  await write(Object.fromEntries([...contents].map(([path, all]) => [path, textOf(all)])))
  await mark(client, task_id, await hunksOf(client, task_id))
  // How often each hunk was there at most: one that comes back was viewed already.
  const seen = new Map<string, number>()
  const see = (runs: readonly string[]) => {
    for (const [run, all] of Map.groupBy(runs, (one) => one)) seen.set(run, Math.max(seen.get(run) ?? 0, all.length))
  }
  see(runsOf(await byGit()))
  for (let step = 0; step < 100; step += 1) {
    const path = edit(random, contents)
    await write({ [path]: textOf(contents.get(path) ?? []) })
    if (random.chance(0.2)) await job.repository.git(['commit', '-qam', 'Work', '--allow-empty'], { cwd: folder })
    const now = runsOf(await byGit())
    const unseen = await client.call('tasks.diff', { task_id, unseen: true })
    expect(runsOf(unseen.patch).toSorted(), `step ${step}`).toEqual(newIn(now, seen).toSorted())
    // By file or by hunk: afterwards all is viewed.
    if (step % 10 > 0) {
      const named = unseen.files.map(({ path: name, blob, new_mode }) => ({ path: name, blob, new_mode }))
      if (named.length > 0) await client.call('tasks.mark_viewed', { task_id, files: named, viewed: true })
    } else {
      const hunks = await hunksOf(client, task_id)
      expect(hunks).toHaveLength(now.length)
      expect(hunks.filter(({ viewed }) => !viewed)).toHaveLength(newIn(now, seen).length)
      await mark(client, task_id, hunks)
    }
    see(now)
  }
  expect((await viewedFiles(client, task_id)).every(([, viewed]) => viewed)).toBe(true)
})

test.concurrent('an update from the base keeps the marks of hunks that did not change', async () => {
  const before = lines('a')
  const { job, client, task_id, path, write } = await worked({ 'a.txt': textOf(before), 'b.txt': textOf(before) })
  await using _ = job
  await write({ 'a.txt': textOf(before.with(20, 'mine')), 'b.txt': textOf(before.with(20, 'mine')) })
  await job.repository.git(['commit', '-qam', 'Work'], { cwd: path })
  await mark(client, task_id, await hunksOf(client, task_id))
  // Of one file the base changes another line, above; of the other the same one, so that its hunk is another.
  await job.repository.commit('Above', {
    'a.txt': textOf(['new', ...before]),
    'b.txt': textOf(before.with(20, 'theirs')),
  })
  await job.repository.git(['rebase', '-q', '-X', 'theirs', 'main'], { cwd: path })
  expect(await marksOf(client, task_id)).toEqual(['a.txt:22 viewed', 'b.txt:21 new'])
  expect(await viewedFiles(client, task_id)).toEqual([
    ['a.txt', true],
    ['b.txt', false],
  ])
})

test.concurrent('marks of two people are apart, and two windows of one agree', async () => {
  const before = lines('a')
  const { job, client, task_id, write } = await worked({ 'a.txt': textOf(before) })
  await using _ = job
  const guest = await register(job.running, 'Guest')
  await addMember(job.running, job.project.id, guest.user_id, 'member')
  await write({ 'a.txt': textOf(before.with(4, 'one').with(20, 'two')) })
  const hunks = await hunksOf(client, task_id)
  const stop = new AbortController()
  const windows = [client, client, guest.client].map((one) => heard(one, stop.signal, 2))
  await mark(client, task_id, hunks.slice(0, 1))
  await mark(client, task_id, hunks.slice(1))
  await client.call('tasks.update', { task_id, title: 'After the marks' })
  expect(await marksOf(client, task_id)).toEqual(['a.txt:21 viewed', 'a.txt:5 viewed'])
  expect(await marksOf(guest.client, task_id)).toEqual(['a.txt:21 new', 'a.txt:5 new'])
  const [one, other, theirs] = await Promise.all(windows)
  expect(one).toEqual([
    { files: [], hunks: [hunks[0]?.id], viewed: true },
    { files: [expect.objectContaining({ path: 'a.txt' })], hunks: [hunks[1]?.id], viewed: true },
  ])
  expect(other).toEqual(one)
  expect(theirs).toEqual([])
  stop.abort()
})

test.concurrent('a diff of what is unseen has each other line, and still applies', async () => {
  const before = lines('a')
  const { job, client, task_id, path, write } = await worked({
    'a.txt': textOf(before),
    'b.txt': 'b\n',
    'c.txt': 'c\n',
  })
  await using _ = job
  // The first two hunks share unchanged lines, so that git shows them in one section.
  const now = before.with(4, 'one').with(7, 'two').with(30, 'three')
  await write({ 'a.txt': textOf(now), 'b.txt': 'b2\n', 'c.txt': 'c2\n' })
  const unseen = () => client.call('tasks.diff', { task_id, unseen: true })
  const all = await client.call('tasks.diff', { task_id, scope: 'branch' })
  expect(await unseen()).toEqual(all)
  const hunks = await hunksOf(client, task_id)
  const seen = hunks.filter(({ path: file, new: [line] }) => file === 'b.txt' || (file === 'a.txt' && line === 5))
  expect(seen).toHaveLength(2)
  await mark(client, task_id, seen)
  const left = await unseen()
  expect(left.files.map(({ path: file, additions, deletions }) => [file, additions, deletions])).toEqual([
    ['a.txt', 2, 2],
    ['c.txt', 1, 1],
  ])
  expect(left.patch.match(/^[-+][^-+].*$/gm)).toEqual(['-a 7', '+two', '-a 30', '+three', '-c', '+c2'])
  const repository = job.repository.path
  await writeFile(join(path, '..', `${task_id}.patch`), left.patch)
  await job.repository.git(['apply', join(path, '..', `${task_id}.patch`)], { cwd: repository })
  expect(await readFile(join(repository, 'a.txt'), 'utf8')).toBe(textOf(before.with(7, 'two').with(30, 'three')))
  await mark(client, task_id, hunks)
  expect(await unseen()).toMatchObject({ files: [], patch: '', tree: all.tree })
})

test.concurrent('takes hunks by their ids only, and leaves out those that are gone', async () => {
  const { job, client, task_id, write } = await worked({ 'a.txt': 'a\n' })
  await using _ = job
  await write({ 'a.txt': 'b\n' })
  const [hunk] = await hunksOf(client, task_id)
  for (const hunks of [[], ['a.txt'], ['X'.repeat(32)]])
    expect(await refusalOf(client.call('tasks.mark_viewed', { task_id, hunks, viewed: true }))).toBe(
      'validation_failed',
    )
  await mark(client, task_id, [{ id: '0'.repeat(32) }])
  expect(await marksOf(client, task_id)).toEqual(['a.txt:1 new'])
  await mark(client, task_id, [{ id: '0'.repeat(32) }, { id: hunk?.id ?? '' }])
  expect(await marksOf(client, task_id)).toEqual(['a.txt:1 viewed'])
})

/** Returns the marks received until the title changes, at most `most`. */
async function heard(client: Client, signal: AbortSignal, most: number): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const item of client.events({}, 0, signal)) {
    if (item.kind !== 'event') continue
    const { event } = item
    if (event.type === 'diff.viewed') {
      const { files, hunks, viewed } = event.data
      found.push({ files, hunks, viewed })
    }
    const isEnd = event.type === 'task.updated' && event.data.task.title === 'After the marks'
    if (isEnd || found.length === most) return found
  }
  throw new Error('The events ended.')
}

/** Changes, adds or removes a line somewhere; returns the path. */
function edit(random: SeededRandom, contents: Map<string, string[]>): string {
  const path = random.pick([...contents.keys()])
  const all = contents.get(path) ?? []
  const at = Math.floor(random.between(0, all.length))
  // Few different words, so that equal hunks exist.
  const word = random.pick(['one', 'two', 'three', '}'])
  const how = random.pick(['change', 'add', 'remove'] as const)
  if (how === 'change') all[at] = word
  else if (how === 'add') all.splice(at, 0, word)
  else if (all.length > 20) all.splice(at, 1)
  contents.set(path, all)
  return path
}

/** Returns the runs of changed lines of a patch, each with its path. */
function runsOf(patch: string): readonly string[] {
  const runs: string[] = []
  let [path, isOpen, isInside] = ['', false, false]
  for (const line of patch.split('\n')) {
    if (line.startsWith('diff --git ')) isInside = false
    else if (!isInside && line.startsWith('+++ b/')) path = line.slice(6)
    if (line.startsWith('@@ ')) isInside = true
    const isChange = isInside && /^[-+]/.test(line)
    if (isChange && isOpen) runs[runs.length - 1] += `\n${line}`
    else if (isChange) runs.push(`${path}\n${line}`)
    isOpen = isChange
  }
  return runs
}

/** Returns the runs, each as often as it is there more often than it was seen. */
function newIn(runs: readonly string[], seen: ReadonlyMap<string, number>): readonly string[] {
  return [...Map.groupBy(runs, (one) => one)].flatMap(([run, all]) => all.slice(seen.get(run) ?? 0))
}
