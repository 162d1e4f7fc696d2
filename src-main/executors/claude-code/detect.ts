import { text } from 'node:stream/consumers'
import { tmpdir } from 'node:os'
import type { DetectedAgent } from '../../../src-shared/contract/projects.ts'
import { ProcessStartError, spawnTree } from '../../base/process.ts'
import { findBinary, installHint } from './find-binary.ts'

const name = 'Claude Code'
const versionTimeoutMs = 4_000

/** Whether Claude Code is installed, where, and which version. */
export async function detectClaudeCode(
  command: string | null,
  env: Readonly<Record<string, string>>,
  { signal }: { readonly signal: AbortSignal },
): Promise<DetectedAgent> {
  const path = await findBinary({ command, env, platform: process.platform })
  if (path === null) return absent(installHint)
  const output = await printVersion(path, env, signal)
  // It says "2.1.330 (Claude Code)".
  const version = output === null ? null : (/\d+\.\d+\.\d+[\w.-]*/.exec(output)?.[0] ?? null)
  if (version === null) return absent(`${path} does not answer to --version. ${installHint}`)
  return { executor: 'claude-code', name, installed: true, path, version, hint: null }
}

const absent = (hint: string): DetectedAgent => ({
  executor: 'claude-code',
  name,
  installed: false,
  path: null,
  version: null,
  hint,
})

/** What the program prints for `--version`; null when it can't be started, fails or takes too long. */
async function printVersion(
  path: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string | null> {
  signal.throwIfAborted()
  const tree = await spawnTree(path, ['--version'], { cwd: tmpdir(), env, stdin: 'ignore' }).catch(notStarted)
  if (tree === null) return null
  const stop = (): void => void tree.stop({ graceMs: 0 })
  const timer = setTimeout(stop, versionTimeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  try {
    tree.stderr.resume()
    const [output, { exit_code }] = await Promise.all([text(tree.stdout), tree.ended])
    signal.throwIfAborted()
    return exit_code === 0 ? output : null
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

function notStarted(error: unknown): null {
  if (error instanceof ProcessStartError) return null
  throw error
}
