import type { ChangedFile, LineRange } from '../../overlaps/rules/compare-work.ts'
import { createDiffReader } from '../commands/diff-reader.ts'
import { patchSettings, patchArgs } from '../commands/diff.ts'
import { runGit } from '../commands/run-git.ts'
import type { GitOptions } from '../commands/run-git.ts'

const limits = { file_bytes: 1024 * 1024, total_bytes: 16 * 1024 * 1024 }

/** Reads which files a commit changes against its base, and which lines of the base. */
export async function readChangedFiles(
  cwd: string,
  base: string,
  commit: string,
  { signal, env }: Pick<GitOptions, 'signal' | 'env'>,
): Promise<readonly ChangedFile[]> {
  if (base === commit) return []
  const reader = createDiffReader(limits, null)
  const args = [...patchSettings, 'diff-tree', '-r', ...patchArgs, '--unified=0', base, commit]
  await runGit(cwd, args, { signal, ...(env && { env }), onOutput: reader.take })
  const lines = new Map(reader.end().map(({ path, part }) => [path, part.binary ? null : rangesOf(part.kept)]))
  return reader.changes().map(({ path, old_path, status, new_blob }) => ({
    path,
    old_path,
    is_added: status === 'A',
    blob: new_blob,
    lines: lines.get(path) ?? null,
  }))
}

function rangesOf(patch: Buffer | string): readonly LineRange[] | null {
  if (typeof patch === 'string') return null
  const headings = patch.toString('latin1').matchAll(/^@@ -(\d+)(?:,(\d+))? /gm)
  return Array.from(headings, ([, from = '', count]) => ({
    from: Number(from),
    to: Number(from) + Number(count ?? 1) - 1,
  }))
}
