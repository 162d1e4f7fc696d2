import { spawn } from 'node:child_process'
import { childEnvironment } from './process-environment.ts'

/** Starts a user's program in a folder; it outlives the app. Rejects if it can't be started. */
export async function spawnDetached(program: string, args: readonly string[], folder: string): Promise<void> {
  const child = spawn(program, [...args], { cwd: folder, env: childEnvironment({}), detached: true, stdio: 'ignore' })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  child.unref()
}
