import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'

/** Whether this process may mount a disk of its own. */
export const canMount = ((): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** A disk in memory with this many megabytes. */
export async function smallDisk(megabytes = 6): Promise<AsyncDisposable & { readonly path: string }> {
  const path = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim()
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      execFileSync('umount', [path])
      await rm(path, { recursive: true })
    },
  }
}
