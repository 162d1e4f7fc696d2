import type { Cancellable } from '../../ports/cancellable.ts'
import { readTexts } from '../commands/read-texts.ts'
import { runGit, splitNul } from '../commands/run-git.ts'

/** A file whose content Git LFS keeps beside the repository. */
export interface LfsFile {
  readonly path: string
  /** The SHA-256 of the content. */
  readonly oid: string
}

/** Git LFS writes none that is larger. */
export const maxPointerBytes = 1_024
const minPointerBytes = 100

export const isLfsId = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** Returns the files of a commit that Git LFS keeps beside the repository; quick where no attribute names it. */
export async function lfsFilesIn(
  cwd: string,
  commit: string,
  { signal, env = {} }: Cancellable & { readonly env?: Readonly<Record<string, string>> },
): Promise<readonly LfsFile[]> {
  const attributes = [':(top,glob)**/.gitattributes']
  const named = await runGit(cwd, ['grep', '-q', '-e', 'filter=lfs', commit, '--', ...attributes], {
    signal,
    env,
    accept: [0, 1],
  })
  if (named.exit_code !== 0) return []
  const listed = await runGit(cwd, ['ls-tree', '-r', '-l', '-z', '--full-tree', commit], { signal, env })
  const small = splitNul(listed.stdout).flatMap((line) => {
    const [, id = '', size, path = ''] = /^100\d+ blob ([0-9a-f]+) +(\d+)\t(.*)$/s.exec(line) ?? []
    const isSmall = Number(size) >= minPointerBytes && Number(size) <= maxPointerBytes
    return isSmall ? [{ id, path }] : []
  })
  const ids = small.map(({ id }) => id)
  const texts = await readTexts(cwd, ids, { signal, env })
  return small.flatMap(({ id, path }) => {
    const oid = oidIn(texts.get(id) ?? '')
    return oid === null ? [] : [{ path, oid }]
  })
}

/** Returns what a pointer of Git LFS names; null for other texts. */
export function oidIn(text: string): string | null {
  if (!/^version https?:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\n/.test(text)) return null
  return /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1] ?? null
}
