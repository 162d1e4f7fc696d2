import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

const maxFileBytes = 1024 * 1024
const maxTotalBytes = 64 * 1024 * 1024

/** Returns the content of blobs as UTF-8, by id: of up to 1 MB each and 64 MB together, the first ones first. */
export async function readTexts(
  cwd: string,
  ids: readonly string[],
  { signal, env }: Pick<GitOptions, 'signal'> & { readonly env: Readonly<Record<string, string>> },
): Promise<ReadonlyMap<string, string>> {
  const asked = [...new Set(ids)]
  if (asked.length === 0) return new Map()
  const check = await runGit(cwd, ['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)', '--buffer'], {
    signal,
    env,
    input: asked.map((id) => `${id}\n`).join(''),
  })
  let total = 0
  const readable = check.stdout
    .toString('latin1')
    .split('\n')
    .flatMap((line) => {
      const [id = '', type, size] = line.split(' ')
      if (type !== 'blob' || Number(size) > maxFileBytes || total + Number(size) > maxTotalBytes) return []
      total += Number(size)
      return [id]
    })
  if (readable.length === 0) return new Map()
  const { stdout } = await runGit(cwd, ['cat-file', '--batch=%(objectname) %(objectsize)', '--buffer'], {
    signal,
    env,
    input: readable.map((id) => `${id}\n`).join(''),
    maxOutput: maxTotalBytes + readable.length * 100,
  })
  const texts = new Map<string, string>()
  for (let at = 0; at < stdout.length;) {
    const end = stdout.indexOf(0x0a, at)
    const [id = '', size] = stdout.toString('latin1', at, end).split(' ')
    const start = end + 1
    texts.set(id, stdout.toString('utf8', start, start + Number(size)))
    // A line end follows the content.
    at = start + Number(size) + 1
  }
  return texts
}
