import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cancellable } from '../ports/cancellable.ts'
import type { LinePlace } from '../ports/diff-reader.ts'
import type { ApplyLines, AppliedLines, PlacedLines } from '../ports/line-changer.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import { branchRef, resolveCommit } from './commands/branch.ts'
import { commitEverything, commitTree } from './commands/commit.ts'
import { lineShift } from './commands/line-changes.ts'
import { runGit, readGit } from './commands/run-git.ts'
import { makeTemporary } from './commands/temporary-folder.ts'
import { changedPaths } from './commands/tree-paths.ts'
import { moveBranch } from './merge/move-branch.ts'
import { finishPendingMove } from './merge/pending-move.ts'
import { checkoutsToUpdate } from './merge/target-checkout.ts'
import { readWork } from './work.ts'

const maxFile = 16 * 1024 * 1024
const attempts = 3

/** Reads lines of the current work, see `LineChanger.lines`. */
export async function readLines(
  ref: BranchRef,
  place: LinePlace,
  { signal }: Cancellable,
): Promise<PlacedLines | null> {
  const cwd = ref.path ?? ref.repo_path
  const work = await readWork(ref, { signal })
  const file = work && (await readFile(cwd, work.tree, place.path, { signal }))
  const lines = file && linesAt(file.lines, place)
  return work === null || !lines ? null : { tree: work.tree, lines: lines.map(textOf) }
}

/** Replaces lines in a commit of its own, see `LineChanger.applyLines`. */
export async function applyLines(request: ApplyLines, { signal }: Cancellable): Promise<AppliedLines> {
  const { repo_path: repo, path, branch } = request
  const cwd = path ?? repo
  await finishPendingMove(repo, { signal })
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    if (path !== null) await commitEverything(path, request.keep_message, { signal })
    const head = await resolveCommit(cwd, branchRef(branch), { signal })
    if (head === null) throw new WorkspaceError('branch_missing', `The branch “${branch}” is gone.`)
    const changed = await changeFile(cwd, request, head, { signal })
    if (changed === null) return { kind: 'changed' }
    const tree = await treeWith(cwd, head, { ...changed, path: request.place.path }, { signal })
    const commit = await commitTree(cwd, { tree, parents: [head], message: request.message }, { signal })
    const [changes, checkouts] = await Promise.all([
      changedPaths(repo, head, commit, { signal }),
      checkoutsToUpdate(repo, branch, { signal }),
    ])
    signal.throwIfAborted()
    const reason = 'copse: apply a suggestion'
    const moved = await moveBranch({ repo, branch, from: head, to: commit, reason, changes, checkouts })
    if (moved.kind === 'moved') return { kind: 'applied', commit }
    if (moved.kind === 'dirty') return { kind: 'in_the_way', files: moved.files }
  }
  throw new WorkspaceError('git_failed', `${branch} could not be changed; something keeps moving it. Try again.`)
}

interface FoundFile {
  readonly mode: string
  readonly blob: string
  /** The file's bytes, one character each. */
  readonly lines: readonly string[]
}

/** Returns the file with the new lines; null if the old lines are gone. */
async function changeFile(
  cwd: string,
  { place, original, replacement }: ApplyLines,
  head: string,
  { signal }: Cancellable,
): Promise<Pick<FoundFile, 'mode' | 'blob'> | null> {
  const file = await readFile(cwd, head, place.path, { signal })
  if (file === null) return null
  const before = await readFile(cwd, original.tree, place.path, { signal })
  // Without the old tree, the lines may still be at their place.
  const shift = before === null ? 0 : await lineShift(cwd, before.blob, file.blob, place, { signal })
  if (shift === null) return null
  const now = { path: place.path, line: place.line + shift, start_line: (place.start_line ?? place.line) + shift }
  const there = linesAt(file.lines, now)
  if (there === null || there.map(textOf).join('\n') !== original.lines.join('\n')) return null
  const end = there[0]?.endsWith('\r') ? '\r' : ''
  const lines = replacement.map((line) => Buffer.from(line).toString('latin1') + end)
  const content = file.lines.toSpliced(now.start_line - 1, there.length, ...lines).join('\n')
  const stored = ['hash-object', '-w', '--no-filters', '--stdin']
  const blob = await readGit(cwd, stored, { signal, input: Buffer.from(content, 'latin1'), access: 'write' })
  return { mode: file.mode, blob }
}

/** Reads a file of a tree or commit; null if it is missing, a link or too large. */
async function readFile(cwd: string, at: string, path: string, { signal }: Cancellable): Promise<FoundFile | null> {
  const args = ['ls-tree', '-z', at, '--', `:(top,literal)${path}`]
  const listed = await runGit(cwd, ['-c', 'core.quotePath=false', ...args], { signal, accept: [0, 128] })
  const [mode = '', type, blob = ''] = (listed.stdout.toString('utf8').split('\t')[0] ?? '').split(' ')
  if (listed.exit_code !== 0 || type !== 'blob' || !mode.startsWith('100')) return null
  const size = Number(await readGit(cwd, ['cat-file', '-s', blob], { signal }))
  if (size > maxFile) return null
  const { stdout } = await runGit(cwd, ['cat-file', 'blob', blob], { signal, maxOutput: maxFile })
  return { mode, blob, lines: stdout.toString('latin1').split('\n') }
}

/** Returns the lines of a place; null if the file is shorter. */
function linesAt(lines: readonly string[], { line, start_line = line }: LinePlace): readonly string[] | null {
  // Text after the last line end counts as a line only if it is not empty.
  const count = lines.at(-1) === '' ? lines.length - 1 : lines.length
  return start_line < 1 || line > count ? null : lines.slice(start_line - 1, line)
}

function textOf(line: string): string {
  return Buffer.from(line, 'latin1').toString('utf8').replace(/\r$/, '')
}

async function treeWith(
  cwd: string,
  head: string,
  { mode, blob, path }: { readonly mode: string; readonly blob: string; readonly path: string },
  { signal }: Cancellable,
): Promise<string> {
  const temporary = await makeTemporary('suggestion')
  try {
    const options = { signal, access: 'write', env: { GIT_INDEX_FILE: join(temporary, 'index') } } as const
    await runGit(cwd, ['read-tree', head], options)
    await runGit(cwd, ['update-index', '-z', '--index-info'], { ...options, input: `${mode} ${blob}\t${path}\0` })
    return await readGit(cwd, ['write-tree'], options)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}
