import type { DiffViewFile } from './diff-items.ts'

type Changed = Pick<
  DiffViewFile,
  'status' | 'binary' | 'additions' | 'deletions' | 'old_path' | 'path' | 'old_mode' | 'new_mode'
>

const what: Record<DiffViewFile['status'], string | null> = {
  added: 'New',
  modified: null,
  deleted: 'Deleted',
  renamed: 'Renamed',
}
const kinds: Readonly<Record<string, string>> = { '120000': 'Link', '160000': 'Submodule' }

/** Describes changes of a file that its lines don't show; null without any. */
export function fileStatusText(file: Changed): string | null {
  const { old_mode, new_mode, status } = file
  const kind = file.binary ? 'Binary' : kinds[new_mode ?? old_mode ?? '']
  const isSame = !file.binary && file.additions + file.deletions === 0
  const words = [
    kind,
    status === 'modified' ? null : what[status],
    old_mode && new_mode && old_mode !== new_mode ? modeWords(old_mode, new_mode) : null,
    isSame && status === 'added' ? 'Empty' : null,
    isSame && status === 'renamed' ? 'Same content' : null,
  ].filter((word) => word != null)
  const sentence = words.join(', ').toLowerCase()
  return sentence === '' ? null : sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

function modeWords(before: string, now: string): string {
  const was = kinds[before]
  if (was !== undefined || kinds[now] !== undefined) return `was a ${(was ?? 'file').toLowerCase()}`
  return now === '100755' ? 'Now executable' : 'No longer executable'
}
