import { writeSync } from 'node:fs'
import { createErrorText } from './error-text.ts'

/**
 * Has this program end with 1 and a text without secrets when nobody has caught an error: by itself Node prints every
 * field of it, with tokens, statements' values and environments. Node's reports leave out the environment.
 */
export function guardCrashes(): void {
  const errorText = createErrorText(process.env)
  // Of a fatal error it leaves that out only when the command line has said so.
  if (!process.report.excludeEnv) process.report.reportOnFatalError = false
  process.report.excludeEnv = true
  // For rejections that nobody handles, too.
  process.on('uncaughtException', (error: unknown) => {
    // Written at once: nothing that is only queued would get out.
    writeSync(2, `copse: ended by an error that nobody expected: ${errorText(error)}\n`)
    process.exit(1)
  })
}
