import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { HiddenChange } from '../../ports/target-mover.ts'
import { orNull } from '../files/file-errors.ts'
import { findConfig } from './configured-programs.ts'
import { readGitLink } from './git-link.ts'
import { hasNoFlags } from './index-flags.ts'
import { copyIndex } from './own-index.ts'
import { readConfig, runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { makeTemporary } from './temporary-folder.ts'
import { pathBytes, pathText } from './tree-paths.ts'

type Options = Pick<GitOptions, 'signal'>

interface Flagged {
  readonly key: string
  readonly flag: HiddenChange['flag']
}

/** Lists the changes in a checkout that its user told git not to show, and which a merge could overwrite. */
export async function listHidden(checkout: string, { signal }: Options): Promise<readonly HiddenChange[]> {
  const flagged = await listFlagged(checkout, { signal })
  if (flagged.length === 0) return []
  const changed = await compare(checkout, flagged, { signal })
  return flagged.filter(({ key }) => changed.has(key)).map(({ key, flag }) => ({ path: pathText(key), flag, checkout }))
}

async function listFlagged(checkout: string, { signal }: Options): Promise<readonly Flagged[]> {
  if (await hasNoFlags(await indexOf(checkout))) return []
  const { stdout } = await runGit(checkout, ['ls-files', '-v', '-z', '--full-name', ':/'], { signal })
  const lines = stdout.toString('latin1').split('\0')
  const marked = lines.filter((line) => /^[a-zS] /.test(line))
  if (marked.length === 0) return []
  const isSparse = await usesSparseCheckout(checkout, { signal })
  const found: Flagged[] = []
  for (const line of marked) {
    const [mark, key] = [line.charAt(0), line.slice(2)]
    const isSkipped = mark.toLowerCase() === 's'
    // The flag of a file outside a sparse checkout hides nothing.
    if (isSkipped && isSparse && (await orNull(lstat(pathBytes(checkout, key)))) === null) continue
    found.push({ key, flag: isSkipped ? 'skip-worktree' : 'assume-unchanged' })
  }
  return found
}

const indexOf = async (checkout: string): Promise<string> =>
  join((await readGitLink(checkout)) ?? join(checkout, '.git'), 'index')

async function usesSparseCheckout(checkout: string, { signal }: Options): Promise<boolean> {
  const place = await findConfig(checkout, [])
  const entries = place === null ? [] : await readConfig(place, { signal })
  return entries.findLast(({ key }) => key === 'core.sparsecheckout')?.value === 'true'
}

/** Returns which of these files differ from the index, in a copy of it without the flags. */
async function compare(
  checkout: string,
  flagged: readonly Flagged[],
  { signal }: Options,
): Promise<ReadonlySet<string>> {
  const temporary = await makeTemporary('flags')
  try {
    const index = join(temporary, 'index')
    await copyIndex(await indexOf(checkout), index)
    const options = { signal, env: { GIT_INDEX_FILE: index }, access: 'write' } as const
    const input = Buffer.from(flagged.map(({ key }) => `${key}\0`).join(''), 'latin1')
    for (const flag of ['--no-assume-unchanged', '--no-skip-worktree']) {
      await runGit(checkout, ['update-index', '-z', flag, '--stdin'], { ...options, input })
    }
    // 1: some need an update, which is what is asked.
    await runGit(checkout, ['update-index', '-q', '--refresh'], { ...options, accept: [0, 1, 128] })
    const { stdout } = await runGit(checkout, ['diff-files', '-z', '--name-only'], options)
    return new Set(stdout.toString('latin1').split('\0'))
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}
