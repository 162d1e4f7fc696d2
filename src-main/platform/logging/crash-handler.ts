import { writeSync } from 'node:fs'
import { createErrorText } from '../text/error-text.ts'

/**
 * Exits with 1 and a text without secrets on an uncaught error. Node itself would print every field of it, with
 * tokens, statements' values and environments. Also excludes the environment from Node's reports. `tell` may show the
 * text to a user who sees no stderr; the program exits when it returns.
 */
export function installCrashHandler(tell: (text: string) => void = () => undefined): void {
  const errorText = createErrorText(process.env)
  // Reports on a fatal error exclude the environment only if the command line said so.
  if (!process.report.excludeEnv) process.report.reportOnFatalError = false
  process.report.excludeEnv = true
  // Also handles unhandled rejections.
  process.on('uncaughtException', (error: unknown) => {
    // Written synchronously, because queued output would be lost.
    const text = errorText(error)
    writeSync(2, `copse: unexpected error: ${text}\n`)
    tell(text)
    process.exit(1)
  })
}
