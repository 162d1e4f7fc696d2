import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

/** Git searches this many bytes at the start of a file for a NUL to decide whether it is text. */
const checkedBytes = 8_000
/** One NUL in so many bytes hides no text: without this, one NUL would take a whole file out of a diff. */
const bytesPerNul = 100
/** A larger blob counts as binary, as with `core.bigFileThreshold` of a diff. */
const maxBytes = 128 * 1024 * 1024
const maxRemembered = 20_000
const isTextById = new Map<string, boolean>()

/**
 * Returns the blobs whose content is text, whatever attributes say about their paths: without a NUL where git looks for
 * one, or UTF-8 with at most one NUL in a hundred bytes.
 */
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

/** Reads the output of `cat-file --batch` without keeping the blobs. */
function createBlobReader(onBlob: (id: string, isText: boolean) => void) {
  let heading = ''
  let blob: ReadBlob | null = null
  return (chunk: Buffer): 'more' => {
    let at = 0
    while (at < chunk.length) {
      if (!blob) {
        const end = chunk.indexOf(0x0a, at)
        heading += chunk.toString('latin1', at, end < 0 ? chunk.length : end)
        at = end < 0 ? chunk.length : end + 1
        if (end < 0) continue
        const [id = '', size = '0'] = heading.split(' ')
        blob = { id, size: Number(size), read: 0, nuls: 0, decoder: null }
        heading = ''
        continue
      }
      // A line end follows the content.
      const end = Math.min(chunk.length, at + blob.size + 1 - blob.read)
      look(blob, chunk.subarray(at, Math.min(end, at + blob.size - blob.read)))
      blob.read += end - at
      at = end
      if (blob.read <= blob.size) continue
      onBlob(blob.id, isText(blob))
      blob = null
    }
    return 'more'
  }
}

interface ReadBlob {
  readonly id: string
  readonly size: number
  read: number
  nuls: number
  /** Checks that a blob with a NUL is UTF-8; `invalid` if it is not. */
  decoder: TextDecoder | 'invalid' | null
}

function look(blob: ReadBlob, content: Buffer): void {
  if (blob.nuls === 0 && (blob.read >= checkedBytes || !content.subarray(0, checkedBytes - blob.read).includes(0))) {
    return
  }
  for (let at = content.indexOf(0); at >= 0; at = content.indexOf(0, at + 1)) blob.nuls += 1
  // What came before the first NUL is not kept; a character that is cut there is the only thing that is missed.
  if (blob.decoder === null) blob.decoder = new TextDecoder('utf-8', { fatal: true })
  if (blob.decoder === 'invalid') return
  try {
    blob.decoder.decode(content, { stream: true })
  } catch {
    blob.decoder = 'invalid'
  }
}

function isText({ nuls, size, decoder }: ReadBlob): boolean {
  return nuls === 0 || (decoder !== 'invalid' && nuls * bytesPerNul <= size)
}
