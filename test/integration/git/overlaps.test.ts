import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { TaskId } from '../../../src-shared/contract/ids.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { doEdit, someEdits, startFiles, type Edit } from './random-edits.ts'
import { never } from './workspace-fixture.ts'

const [a, b] = ['01912d68-783e-7a03-8467-5661c1243ad4', '01912d68-783e-7a03-8467-5661c1243ad5'].map((id) =>
  TaskId.parse(id),
) as [TaskId, TaskId]

/** The path that an edit changes, as a watch reports it; null if only a full read finds it. */
function changedBy(edits: readonly Edit[]): readonly string[] | null {
  const names = new Set<string>()
  for (const edit of edits) {
    if (!('path' in edit) || edit.kind === 'stage' || edit.kind === 'untrack' || edit.kind === 'assume') return null
    for (let name = edit.path; name !== '.'; name = dirname(name)) names.add(name)
    if (edit.kind === 'rename') for (let name = edit.to; name !== '.'; name = dirname(name)) names.add(name)
  }
  return [...names].map((name) => Buffer.from(name).toString('latin1'))
}

/** Whether git finds a conflict once both have committed all their work. */
async function conflictsByGit(repository: TestRepository, paths: readonly string[]): Promise<boolean> {
  const commits: string[] = []
  for (const cwd of paths) {
    await repository.git(['add', '--all'], { cwd })
    await repository.git(['commit', '--quiet', '--allow-empty', '--message', 'All'], { cwd })
    commits.push(await repository.git(['rev-parse', 'HEAD'], { cwd }))
  }
  const merge = repository.git(['merge-tree', '--write-tree', '--name-only', ...commits])
  return await merge.then(
    () => false,
    (error: unknown) => {
      if ((error as { code?: unknown }).code === 1) return true
      throw error
    },
  )
}

const edits = someEdits.map((all) => all.filter(({ kind }) => kind !== 'submodule'))

test('finds a conflict exactly where git does, at once or as the work changes', { timeout: 240_000 }, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-data-'))
  const workspaces = createWorkspaces({ dataDir })
  const runs = fc.asyncProperty(edits, edits, edits, async (early, late, theirs) => {
    await using repository = await createTestRepository({ files: startFiles })
    const paths = ['one', 'other'].map((name) => join(repository.beside, name)) as [string, string]
    for (const path of paths) await repository.git(['worktree', 'add', '--quiet', '-b', `on-${path.at(-1)}`, path])
    const read = async (mine: readonly string[] | null, other: readonly string[] | null) => {
      const found = await workspaces.readOverlaps(
        {
          group: repository.path,
          repo_path: repository.path,
          base_branch: 'main',
          worktrees: [
            { task_id: a, path: paths[0], changed: mine },
            { task_id: b, path: paths[1], changed: other },
          ],
          isCompared: () => true,
        },
        never,
      )
      return found.some(({ kind }) => kind === 'conflict')
    }
    for (const edit of early) await doEdit(repository, paths[0], edit)
    await read(null, null)
    for (const edit of late) await doEdit(repository, paths[0], edit)
    for (const edit of theirs) await doEdit(repository, paths[1], edit)
    const inParts = await read(changedBy(late), changedBy(theirs))
    await workspaces.forgetOverlaps(repository.path)
    const atOnce = await read(null, null)
    await workspaces.forgetOverlaps(repository.path)
    expect(await readdir(join(dataDir, 'overlaps'))).toEqual([])
    const byGit = await conflictsByGit(repository, paths)
    expect({ inParts, atOnce }).toEqual({ inParts: byGit, atOnce: byGit })
  })
  try {
    // A circular link stands in the place of a folder.
    const ring: Edit[] = [
      { kind: 'link', path: 'a.txt', target: 'a.txt' },
      { kind: 'link', path: 'dir', target: 'a.txt' },
      { kind: 'untrack', path: 'dir' },
    ]
    await fc.assert(runs, { numRuns: 10, examples: [[[], ring, [{ kind: 'delete', path: 'a.txt' }]]] })
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
