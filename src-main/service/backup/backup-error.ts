import { ConfigError } from '../../platform/config/config-error.ts'
import { DataDirLockedError } from '../../platform/locks/single-instance.ts'

/** A backup or a restore that was refused or failed. The message is one line that says what to do. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
  readonly code = 'backup_failed'
}

/** Runs a command until it ends or is interrupted. Resolves to the exit code; prints a failure as one line on stderr. */
export async function runInterruptibly(work: (signal: AbortSignal) => Promise<void>): Promise<0 | 1 | 2> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, stop)
  try {
    await work(controller.signal)
    return 0
  } catch (error) {
    const message = controller.signal.aborted ? 'Stopped. Nothing was changed.' : messageOf(error)
    if (message === null) throw error
    process.stderr.write(`copse: ${message}\n`)
    return error instanceof ConfigError ? 2 : 1
  } finally {
    for (const name of signals) process.off(name, stop)
  }
}

function messageOf(error: unknown): string | null {
  if (error instanceof BackupError || error instanceof ConfigError || error instanceof DataDirLockedError)
    return error.message
  const { code = '', path } = error as NodeJS.ErrnoException
  const problem = problems.find(([pattern]) => pattern.test(code))?.[1]
  return problem === undefined ? null : `${path === undefined ? '' : `${path}: `}${problem} (${code})`
}

const problems: readonly (readonly [code: RegExp, problem: string])[] = [
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)$/, 'The disk is full. Nothing was changed. Free some space, then try again.'],
  [/^(EACCES|EPERM|EROFS|SQLITE_READONLY.*|SQLITE_CANTOPEN.*)$/, "It can't be used. Check its owner and permissions."],
  [/^(ENOENT|ENOTDIR)$/, "It doesn't exist."],
  [/^EISDIR$/, 'It is a folder. Name a file.'],
  [/^SQLITE_(BUSY|LOCKED)/, 'Another program holds the database. Close that program, or wait until it is done.'],
  [/^(EPIPE|ECONNRESET)$/, 'The backup is incomplete: nothing reads the output.'],
  [/^(EIO|SQLITE_IOERR.*)$/, 'The disk reports an error. Check the disk.'],
]
