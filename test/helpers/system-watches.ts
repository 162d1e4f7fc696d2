import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The number of folders that the system watches for this process; Linux only. */
export function systemWatches(): number {
  const infos = readdirSync('/proc/self/fdinfo').map((name) => {
    try {
      return readFileSync(join('/proc/self/fdinfo', name), 'utf8')
    } catch {
      // The descriptor of the listing itself is gone by now.
      return ''
    }
  })
  return infos.join('\n').match(/^inotify wd/gm)?.length ?? 0
}
