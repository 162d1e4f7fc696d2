import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Returns the inodes of the sockets that a process has open; null if it may not be inspected. */
export function openSockets(pid: number): readonly string[] | null {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).flatMap((fd) => socketOf(`${folder}/${fd}`))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // It has ended.
    return code === 'ENOENT' || code === 'ESRCH' ? [] : null
  }
}

function socketOf(path: string): string[] {
  try {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(path)) ?? []
    return inode === undefined ? [] : [inode]
  } catch {
    return []
  }
}

/** Returns whether a process runs as this user, also one that may not be inspected. */
export function runsAs(pid: number, uid: number): boolean {
  try {
    const [, users = ''] = /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return users.split(/\s+/).map(Number).includes(uid)
  } catch {
    return false
  }
}
