import type { Attachment } from './attachments.ts'
import type { AttachmentId } from './ids.ts'

/** Maximum size of one file in bytes. */
export const maxAttachmentBytes = 10 * 1024 * 1024
/** Maximum number of files per task, and of files of a project that no task has yet. */
export const maxAttachments = 50
export const maxAttachmentsBytes = 100 * 1024 * 1024

/**
 * Image types that are shown inline; all other files are downloaded. SVG is excluded, because it can contain scripts.
 */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export const isShownImage = (media_type: string): boolean => (imageTypes as readonly string[]).includes(media_type)

const reference = /\battachment:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-f-])/gi

/** Returns the IDs of the attachments that a text names, each once. */
export function attachmentsNamedIn(text: string): AttachmentId[] {
  return [...new Set([...text.matchAll(reference)].map(([, id]) => (id ?? '').toLowerCase() as AttachmentId))]
}

/** Replaces each attachment that a text names; null keeps it. */
export function replaceAttachments(text: string, by: (id: AttachmentId) => string | null): string {
  return text.replace(reference, (all: string, id: string) => by(id.toLowerCase() as AttachmentId) ?? all)
}

/** Returns the Markdown of an attachment: an inline image, or a link for any other file. */
export function attachmentMarkdown({ id, name, media_type }: Pick<Attachment, 'id' | 'name' | 'media_type'>): string {
  const words = name.replace(/[[\]\\]/g, '\\$&')
  return `${isShownImage(media_type) ? '!' : ''}[${words}](attachment:${id})`
}

const shown = /!?\[(?:[^[\]\\]|\\.)*\]\(attachment:[0-9a-f-]{36}\)/gi

/** Returns a Markdown text without its attachments, and without lines that contained only them. */
export function withoutAttachments(text: string): string {
  if (attachmentsNamedIn(text).length === 0) return text
  const kept = text.split('\n').flatMap((line) => {
    const rest = line.replace(shown, '').replace(reference, '')
    return rest.trim() === '' && line.trim() !== '' ? [] : [rest]
  })
  return kept.join('\n').trim()
}
