import fc from 'fast-check'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bringWorktree } from '../../../src-main/git/sending/bring-worktree.ts'
import { makeSnapshot } from '../../../src-main/git/sending/make-snapshot.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { doEdit, someEdits, startFiles } from './random-edits.ts'

const signal = new AbortController().signal

async function startTwo() {
  const repository = await createTestRepository()
  await repository.commit('Start', startFiles)
  const root = await mkdtemp(join(tmpdir(), 'copse-bring-'))
  const add = async (name: string): Promise<string> => {
    await repository.git(['worktree', 'add', '-q', '-b', name, join(root, name)])
    return join(root, name)
  }
  const objects = join(root, 'objects')
  const snapshotOf = (worktree: string) =>
    makeSnapshot(worktree, { signal, max_file_bytes: 1e6, objects, previous: null })
  return {
    repository,
    add,
    snapshotOf,
    objects,
    /** Brings a worktree to where another one is. */
    bring: async (worktree: string, branch: string, from: string) => {
      const { commit = '', head = '' } = (await snapshotOf(from)) ?? {}
      await bringWorktree(worktree, { branch, head, snapshot: commit, objects: [objects] }, { signal })
    },
    [Symbol.asyncDispose]: async () => {
      await rm(root, { recursive: true, force: true })
      await repository[Symbol.asyncDispose]()
    },
  }
}

test('brings a worktree to what another one has: commits, index and files, whatever it had', async () => {
  await using two = await startTwo()
  let runs = 0
  const edits = someEdits.map((list) => list.filter(({ kind }) => kind !== 'submodule'))
  await fc.assert(
    fc.asyncProperty(edits, edits, async (there, here) => {
      runs += 1
      const [from, to] = [await two.add(`from-${runs}`), await two.add(`to-${runs}`)]
      for (const edit of there) await doEdit(two.repository, from, edit)
      for (const edit of here) await doEdit(two.repository, to, edit)
      await two.bring(to, `to-${runs}`, from)
      const [wanted, found] = [await two.snapshotOf(from), await two.snapshotOf(to)]
      expect(found).toMatchObject({ head: wanted?.head, tree: wanted?.tree, staged: wanted?.staged })
      expect(await two.repository.git(['symbolic-ref', '--short', 'HEAD'], { cwd: to })).toBe(`to-${runs}`)
    }),
    { numRuns: 8 },
  )
})

test('writes only the files that differ, and leaves ignored ones', async () => {
  await using two = await startTwo()
  const [from, to] = [await two.add('from'), await two.add('to')]
  await writeFile(join(to, 'x.log'), 'kept')
  await writeFile(join(from, 'a.txt'), 'changed')
  const before = await stat(join(to, 'b.txt'))
  await two.bring(to, 'to', from)
  expect((await stat(join(to, 'b.txt'))).ino).toBe(before.ino)
  expect((await stat(join(to, 'b.txt'))).mtimeMs).toBe(before.mtimeMs)
  expect((await stat(join(to, 'x.log'))).size).toBe(4)
  const counted = () => two.repository.git(['count-objects'])
  const count = await counted()
  await writeFile(join(from, 'a.txt'), 'changed again')
  await two.bring(to, 'to', from)
  expect(await counted()).toBe(count)
})

test('deletes nothing behind a link', async () => {
  await using two = await startTwo()
  const [from, to] = [await two.add('from'), await two.add('to')]
  const outside = await mkdtemp(join(tmpdir(), 'copse-outside-'))
  await writeFile(join(outside, 'c.txt'), 'mine')
  await doEdit(two.repository, from, { kind: 'delete', path: 'dir/c.txt' })
  await rm(join(to, 'dir'), { recursive: true })
  await doEdit(two.repository, to, { kind: 'link', path: 'dir', target: outside })
  await two.bring(to, 'to', from)
  expect((await stat(join(outside, 'c.txt'))).size).toBe(4)
  await rm(outside, { recursive: true })
})
