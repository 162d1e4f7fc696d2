import type { Attachment } from './attachments.ts'
import type { AttachmentId } from './ids.ts'

/** Of one file, in bytes. */
export const maxAttachmentBytes = 10 * 1024 * 1024
/** Of the files of a task, and of those of a project that no task has yet. */
export const maxAttachments = 50
export const maxAttachmentsBytes = 100 * 1024 * 1024

/** The images that are shown where they are; every other file is downloaded. SVG is none of them: it is a program. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export const isShownImage = (media_type: string): boolean => (imageTypes as readonly string[]).includes(media_type)

const reference = /\battachment:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-f-])/gi

/** The ids of the attachments that a text names, each once. */
export function attachmentsNamedIn(text: string): AttachmentId[] {
  return [...new Set([...text.matchAll(reference)].map(([, id]) => (id ?? '').toLowerCase() as AttachmentId))]
}

/** A text with something else in the place of each attachment that it names; null leaves it. */
export function replaceAttachments(text: string, by: (id: AttachmentId) => string | null): string {
  return text.replace(reference, (all: string, id: string) => by(id.toLowerCase() as AttachmentId) ?? all)
}

/** How Markdown names an attachment: an image in its place, any other file as a link. */
export function attachmentMarkdown({ id, name, media_type }: Pick<Attachment, 'id' | 'name' | 'media_type'>): string {
  const words = name.replace(/[[\]\\]/g, '\\$&')
  return `${isShownImage(media_type) ? '!' : ''}[${words}](attachment:${id})`
}

const shown = /!?\[(?:[^[\]\\]|\\.)*\]\(attachment:[0-9a-f-]{36}\)/gi

/** A Markdown text without the attachments that it shows or links to, and without lines that held nothing else. */
export function withoutAttachments(text: string): string {
  if (attachmentsNamedIn(text).length === 0) return text
  const kept = text.split('\n').flatMap((line) => {
    const rest = line.replace(shown, '').replace(reference, '')
    return rest.trim() === '' && line.trim() !== '' ? [] : [rest]
  })
  return kept.join('\n').trim()
}
