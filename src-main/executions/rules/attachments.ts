import { replaceAttachments } from '../../../src-shared/contract/attachment-text.ts'
import type { Attachment } from '../../../src-shared/contract/attachments.ts'
import type { AttachmentId } from '../../../src-shared/contract/ids.ts'
import type { PromptPart } from '../../../src-shared/contract/prompts.ts'

/** Folder of a task's files in its worktree. */
const folder = '.copse/attachments'
const longestName = 120

/** Returns the file name that people see: the last part of a path, without characters that file systems refuse. */
export function attachmentName(given: string): string {
  const last = given.split(/[\\/]/).at(-1) ?? ''

  const plain = last
    .replace(/[\u0000-\u001f\u007f<>:"|?*\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/^[.\s]+|[.\s]+$/g, '')
  if (plain === '') return 'file'
  const dot = plain.lastIndexOf('.')
  const end = dot > 0 && plain.length - dot <= 12 ? plain.slice(dot) : ''
  return plain.slice(0, plain.length - end.length).slice(0, longestName - end.length) + end
}

/** Returns the file name of each attachment in a worktree: its own without spaces, with a number if that is taken. */
export function attachmentFileNames(
  attachments: readonly Pick<Attachment, 'id' | 'name'>[],
): ReadonlyMap<AttachmentId, string> {
  const names = new Map<AttachmentId, string>()
  const taken = new Set(['.gitignore'])
  for (const { id, name } of attachments) {
    const plain = name.replace(/\s+/g, '-')
    const dot = plain.lastIndexOf('.')
    const [stem, end] = dot > 0 ? [plain.slice(0, dot), plain.slice(dot)] : [plain, '']
    let free = plain
    // Some file systems ignore case.
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${stem}-${number}${end}`
    taken.add(free.toLowerCase())
    names.set(id, free)
  }
  return names
}

/** Returns the list of a task's files for its agents; null if there are none. */
export function attachmentsText(attachments: readonly Pick<Attachment, 'id' | 'media_type' | 'size'>[]): string | null {
  if (attachments.length === 0) return null
  return attachments
    .map(({ id, media_type, size }) => `- attachment:${id} (${media_type}, ${Math.max(1, Math.round(size / 1024))} KB)`)
    .join('\n')
}

/** Returns the parts of a prompt in which each attachment's name is replaced by its path. */
export function placeAttachments(
  parts: readonly PromptPart[],
  attachments: readonly Pick<Attachment, 'id' | 'name'>[],
): PromptPart[] {
  const names = attachmentFileNames(attachments)
  const pathOf = (id: AttachmentId) => (names.has(id) ? `${folder}/${names.get(id) ?? ''}` : null)
  return parts.map((part) => ({ ...part, text: replaceAttachments(part.text, pathOf) }))
}
