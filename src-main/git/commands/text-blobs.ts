import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

/** Git searches this many bytes at the start of a file for a NUL to decide whether it is text. */
const checkedBytes = 8_000
/** A larger blob counts as binary, as with `core.bigFileThreshold` of a diff. */
const maxBytes = 128 * 1024 * 1024
const maxRemembered = 20_000
const isTextById = new Map<string, boolean>()

/** Returns the blobs whose content is text, whatever attributes say about their paths. */
export async function findText(
  cwd: string,
  ids: readonly string[],
  { signal, env = {} }: Pick<GitOptions, 'signal' | 'env'>,
): Promise<ReadonlySet<string>> {
  const asked = [...new Set(ids)]
  if (isTextById.size + asked.length > maxRemembered) isTextById.clear()
  const unknown = asked.filter((id) => !isTextById.has(id))
  const { readable, other } = await checkSizes(cwd, unknown, { signal, env })
  for (const id of other) isTextById.set(id, false)
  if (readable.length > 0) {
    const reader = createBlobReader((id, isText) => isTextById.set(id, isText))
    const input = readable.map((id) => `${id}\n`).join('')
    const args = ['cat-file', '--batch=%(objectname) %(objectsize)', '--buffer']
    await runGit(cwd, args, { signal, input, onOutput: reader, env })
  }
  return new Set(asked.filter((id) => isTextById.get(id) === true))
}

async function checkSizes(
  cwd: string,
  ids: readonly string[],
  { signal, env = {} }: Pick<GitOptions, 'signal' | 'env'>,
) {
  if (ids.length === 0) return { readable: [], other: [] }
  const input = ids.map((id) => `${id}\n`).join('')
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)', '--buffer']
  const lines = (await runGit(cwd, args, { signal, input, env })).stdout.toString('utf8').split('\n')
  const isReadable = (line: string): boolean => {
    const [, type, size] = line.split(' ')
    return type === 'blob' && Number(size) <= maxBytes
  }
  const readable = lines.filter(isReadable).map((line) => line.slice(0, line.indexOf(' ')))
  const found = new Set(readable)
  return { readable, other: ids.filter((id) => !found.has(id)) }
}

/** Reads the output of `cat-file --batch` and keeps only the start of each blob. */
function createBlobReader(onBlob: (id: string, isText: boolean) => void) {
  let heading = ''
  let blob: { readonly id: string; readonly size: number; read: number; hasNul: boolean } | null = null
  return (chunk: Buffer): 'more' => {
    let at = 0
    while (at < chunk.length) {
      if (!blob) {
        const end = chunk.indexOf(0x0a, at)
        heading += chunk.toString('latin1', at, end < 0 ? chunk.length : end)
        at = end < 0 ? chunk.length : end + 1
        if (end < 0) continue
        const [id = '', size = '0'] = heading.split(' ')
        blob = { id, size: Number(size), read: 0, hasNul: false }
        heading = ''
        continue
      }
      // A line end follows the content.
      const end = Math.min(chunk.length, at + blob.size + 1 - blob.read)
      const looked = chunk.subarray(at, Math.min(end, at + Math.max(0, Math.min(checkedBytes, blob.size) - blob.read)))
      if (looked.includes(0)) blob.hasNul = true
      blob.read += end - at
      at = end
      if (blob.read <= blob.size) continue
      onBlob(blob.id, !blob.hasNul)
      blob = null
    }
    return 'more'
  }
}
