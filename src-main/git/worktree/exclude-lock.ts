import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { orNull } from '../files/file-errors.ts'

const line = '/.svc.lock'

/** Whether git overlooks the lock file already. */
export async function isLockExcluded(common: string): Promise<boolean> {
  const text = await orNull(readFile(join(common, 'info', 'exclude'), 'utf8'))
  return text?.split(/\r?\n/).includes(line) ?? false
}

/** Has git overlook the lock file in every worktree of the repository, without touching a file that is committed. */
export async function excludeLock(common: string): Promise<void> {
  const path = join(common, 'info', 'exclude')
  const text = (await orNull(readFile(path, 'utf8'))) ?? ''
  if (text.split(/\r?\n/).includes(line)) return
  await mkdir(join(common, 'info'), { recursive: true })
  await appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`)
}
