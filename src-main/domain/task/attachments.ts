import { replaceAttachments } from '../../../src-shared/contract/attachment-text.ts'
import type { Attachment } from '../../../src-shared/contract/attachments.ts'
import type { AttachmentId } from '../../../src-shared/contract/ids.ts'
import type { PromptPart } from '../../../src-shared/contract/prompts.ts'

/** Where an agent finds the files of its task, below its worktree. */
const folder = '.copse/attachments'
const longestName = 120

/** What people see as the name of a file: the last part of a path, without what no file system takes. */
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

/** Under which name each file lies in a worktree: its own, without spaces, and with a number where that is taken. */
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
    // Some file systems don't tell capitals from small letters.
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${stem}-${number}${end}`
    taken.add(free.toLowerCase())
    names.set(id, free)
  }
  return names
}

/** The list of a task's files for its agents; null without any. */
export function attachmentsText(attachments: readonly Pick<Attachment, 'id' | 'media_type' | 'size'>[]): string | null {
  if (attachments.length === 0) return null
  return attachments
    .map(({ id, media_type, size }) => `- attachment:${id} (${media_type}, ${Math.max(1, Math.round(size / 1024))} KB)`)
    .join('\n')
}

/** The parts of a prompt with the path of each attachment in the place of its name in a text. */
export function placeAttachments(
  parts: readonly PromptPart[],
  attachments: readonly Pick<Attachment, 'id' | 'name'>[],
): PromptPart[] {
  const names = attachmentFileNames(attachments)
  const pathOf = (id: AttachmentId) => (names.has(id) ? `${folder}/${names.get(id) ?? ''}` : null)
  return parts.map((part) => ({ ...part, text: replaceAttachments(part.text, pathOf) }))
}
