import { isShownImage, attachmentsNamedIn } from '../../src-shared/contract/attachment-text.ts'
import type { PromptPart } from '../../src-shared/contract/prompts.ts'
import { attachmentFileNames, placeAttachments } from './rules/attachments.ts'
import type { RunGround } from './run-ground.ts'
import type { PromptImage } from '../ports/executors.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** Size limits of images for models: per image, and per prompt. Larger ones are still files in the worktree. */
const maxImageBytes = 3.75 * 1024 * 1024
const maxImagesBytes = 15 * 1024 * 1024

/** Copies the task's files into the worktree of its run. If that fails, the run starts anyway. */
export async function placeFiles(context: RunGround, task: TaskRecord, worktree: string): Promise<void> {
  const attachments = context.store.read.attachments.ofTask(task.id)
  const names = attachmentFileNames(attachments)
  const files = attachments.map(({ id, sha256 }) => ({ sha256, name: names.get(id) ?? id }))
  await context.attachmentFiles.copyInto(worktree, files).catch((error: unknown) => {
    context.log.warn({ err: error, task_id: task.id }, 'the files of a task could not be put into its worktree')
  })
}

/** Returns a prompt that names the file of each attachment. */
export function withPaths(
  context: Pick<RunGround, 'store'>,
  task: TaskRecord,
  parts: readonly PromptPart[],
): PromptPart[] {
  return placeAttachments(parts, context.store.read.attachments.ofTask(task.id))
}

/** Returns the images that a prompt names, for agents that accept images. */
export async function imagesIn(
  context: RunGround,
  task: TaskRecord,
  parts: readonly PromptPart[],
): Promise<PromptImage[]> {
  const named = new Set(parts.flatMap(({ text }) => attachmentsNamedIn(text)))
  const images: PromptImage[] = []
  let room = maxImagesBytes
  for (const { id, media_type, size, sha256 } of context.store.read.attachments.ofTask(task.id)) {
    if (!named.has(id) || !isShownImage(media_type) || size > Math.min(maxImageBytes, room)) continue
    const data_base64 = await context.attachmentFiles.read(sha256)
    if (data_base64 === null) continue
    images.push({ media_type, data_base64 })
    room -= size
  }
  return images
}
