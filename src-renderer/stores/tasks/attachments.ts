import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import { attachmentMarkdown, isShownImage, maxAttachmentBytes } from '../../../src-shared/contract/attachment-text.ts'
import type { Attachment } from '../../../src-shared/contract/attachments.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import { bytesOf } from '../base/bytes-of.ts'
import { useClient } from '../base/client.ts'

interface Loaded {
  readonly name: string
  readonly isImage: boolean
  readonly url: string
}

/** The attachments of tasks: uploaded, and downloaded once into object URLs of this page. */
export const useAttachments = defineStore('attachments', () => {
  const client = useClient()
  const loaded = new Map<string, Promise<Loaded | null>>()
  /** A count that grows whenever a file is attached or removed on this page. */
  const changes = shallowReactive({ count: 0 })

  async function fetch(attachmentId: string): Promise<Loaded | null> {
    try {
      const { name, media_type, data_base64 } = await client.call('attachments.download', {
        attachment_id: attachmentId,
      })
      const isImage = isShownImage(media_type)
      // Only images keep their type; all other files open as plain bytes, so the browser runs none of them.
      const type = isImage ? media_type : 'application/octet-stream'
      const blob = new Blob([bytesOf(data_base64) as Uint8Array<ArrayBuffer>], { type })
      return { name, isImage, url: URL.createObjectURL(blob) }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return null
      loaded.delete(attachmentId)
      throw error
    }
  }
  return {
    changes,
    load(id: string): Promise<Loaded | null> {
      const known = loaded.get(id) ?? fetch(id)
      loaded.set(id, known)
      return known
    },
    async upload(place: { readonly project_id: string; readonly task_id?: string }, file: File): Promise<Attachment> {
      if (file.size > maxAttachmentBytes) {
        const message = `${file.name} is over the limit of 10 MB. Link to it instead.`
        throw new ApiError({ code: 'payload_too_large', message })
      }
      const data_base64 = await base64Of(file)
      const attachment = await client.call('attachments.create', { ...place, name: file.name || 'file', data_base64 })
      changes.count++
      return attachment
    },
    async list(taskId: string): Promise<readonly Attachment[]> {
      return (await client.call('attachments.list', { task_id: taskId })).items
    },
    async remove(attachmentId: string): Promise<void> {
      await client.call('attachments.delete', { attachment_id: attachmentId })
      loaded.delete(attachmentId)
      changes.count++
    },
  }
})

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '')
    reader.onerror = () => reject(new Error(`${file.name} can’t be read.`, { cause: reader.error }))
    reader.readAsDataURL(file)
  })
}

/** Attachments and path completion for the editors of one task or draft. */
export function useTaskFiles(
  place: () => { readonly projectId: string; readonly taskId: string | null; readonly repoId: string | null },
) {
  const client = useClient()
  const attachments = useAttachments()
  return {
    load: (id: string) => attachments.load(id),
    upload: async (file: File): Promise<string> => {
      const { projectId, taskId } = place()
      const where = { project_id: projectId, ...(taskId !== null && { task_id: taskId }) }
      return attachmentMarkdown(await attachments.upload(where, file))
    },
    findPaths: async (q: string): Promise<readonly string[]> => {
      const { projectId, repoId } = place()
      const where = { project_id: projectId, ...(repoId !== null && { repo_id: repoId }) }
      return (await client.call('repos.paths', { ...where, q: q.slice(0, 200), limit: 8 })).items
    },
  }
}
