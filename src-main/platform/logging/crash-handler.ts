import { writeSync } from 'node:fs'
import { createErrorText } from '../text/error-text.ts'

/**
 * Has this program end with 1 and a text without secrets when nobody has caught an error: by itself Node prints every
 * field of it, with tokens, statements' values and environments. Node's reports leave out the environment. `tell` may
 * show the text to somebody who sees no stderr; the program ends when it returns.
 */
export function installCrashHandler(tell: (text: string) => void = () => undefined): void {
  const errorText = createErrorText(process.env)
  // Of a fatal error it leaves that out only when the command line has said so.
  if (!process.report.excludeEnv) process.report.reportOnFatalError = false
  process.report.excludeEnv = true
  // For rejections that nobody handles, too.
  process.on('uncaughtException', (error: unknown) => {
    // Written at once: nothing that is only queued would get out.
    const text = errorText(error)
    writeSync(2, `copse: unexpected error: ${text}\n`)
    tell(text)
    process.exit(1)
  })
}
