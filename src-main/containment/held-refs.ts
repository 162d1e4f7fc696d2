import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/**
 * Returns the files of the refs that a run in this worktree may not move: branches checked out elsewhere, in the
 * user's checkout or for other tasks, and rescues. Unpacks packed refs to single files, as git does at a ref's next
 * change, because only files can be protected.
 */
export async function heldRefs(cwd: string): Promise<readonly string[]> {
  const link = await read(join(cwd, '.git'))
  if (link === null) return []
  const gitDir = resolve(cwd, link.replace(/^gitdir:\s*/, '').trim())
  const common = resolve(gitDir, ((await read(join(gitDir, 'commondir'))) ?? '.').trim())
  if (common === gitDir) return []
  const records = await readdir(join(common, 'worktrees')).catch(() => [])
  const heads = [common, ...records.map((name) => join(common, 'worktrees', name))].filter(
    (folder) => folder !== gitDir,
  )
  const ownBranch = await branchOf(gitDir)
  const packed = await read(join(common, 'packed-refs'))
  const files: string[] = []
  for (const head of heads) {
    const ref = await branchOf(head)
    if (ref === null || ref === ownBranch) continue
    const file = join(common, ref)
    if (!existsSync(file)) await unpack(file, packedIn(packed, ref))
    files.push(file)
  }
  return [...files, join(common, 'refs', 'svc')].filter((file) => existsSync(file))
}

async function branchOf(record: string): Promise<string | null> {
  const ref = /^ref: (refs\/heads\/\S+)$/m.exec((await read(join(record, 'HEAD'))) ?? '')?.[1] ?? null
  return ref === null || ref.split('/').includes('..') ? null : ref
}

function packedIn(packed: string | null, ref: string): string | null {
  const line = packed?.split('\n').find((one) => one.endsWith(` ${ref}`))
  return line === undefined ? null : (/^[0-9a-f]{40,64}/.exec(line)?.[0] ?? null)
}

/** Takes git's own lock, so that a concurrent move of the ref is not overwritten. */
async function unpack(file: string, commit: string | null): Promise<void> {
  if (commit === null) return
  const lock = `${file}.lock`
  try {
    await mkdir(dirname(file), { recursive: true })
    const locked = await open(lock, 'wx')
    await locked.writeFile(`${commit}\n`)
    await locked.close()
    await (existsSync(file) ? rm(lock) : rename(lock, file))
  } catch {
    // Another process is moving the ref, so it will be a file.
  }
}

const read = async (file: string): Promise<string | null> => await readFile(file, 'utf8').catch(() => null)
