import { capture } from './child.mjs'
import { root } from './project.mjs'

/** Runs commands one after the other, prints what they say, and ends the process: with 1 if one failed. */
export async function checkEach(commands) {
  let failed = false
  for (const [command, ...args] of commands) {
    const { code, output } = await capture(command, args, { cwd: root, shell: process.platform === 'win32' })
    failed ||= code !== 0
    if (output.trim() !== '') console.log(output.trim())
  }
  process.exit(failed ? 1 : 0)
}
