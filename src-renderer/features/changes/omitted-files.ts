import type { DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { count } from '../../formatters/format-amounts.ts'

/** Returns a sentence about files omitted for their size; null if there are none. */
export function omittedSentence(files: readonly Pick<DiffFile, 'truncated' | 'reason'>[]): string | null {
  const omitted = files.filter((file) => file.truncated)
  if (omitted.length === 0) return null
  const large = omitted.filter((file) => file.reason === 'too_large').length
  const beyondLimit = omitted.length - large
  const parts = [
    ...(large > 0 ? [`${count(large, 'file')} with more than 1 MB of changes`] : []),
    ...(beyondLimit > 0 ? [`${count(beyondLimit, 'file')} beyond the first 8 MB`] : []),
  ]
  return `Not loaded: ${parts.join(' and ')}. Choose Show anyway on a file to load it.`
}
