import type { DetectedAgent } from '../../../src-shared/contract/projects.ts'
import type { Cancellable } from '../../engine/ports.ts'
import { readVersion } from '../detect.ts'
import { findBinary, installHint } from './find-binary.ts'

/** Whether Claude Code is installed, where, and which version; one that can't even tell its version is not. */
export async function detectClaudeCode(
  environment: Readonly<Record<string, string | undefined>>,
  options: Cancellable,
): Promise<DetectedAgent> {
  const found = { executor: 'claude-code', name: 'Claude Code' } as const
  const path = findBinary(null, environment)
  if (path === null) return { ...found, installed: false, path: null, version: null, hint: installHint }
  const version = await readVersion(path, options)
  if (version !== null) return { ...found, installed: true, path, version, hint: null }
  const hint = `${path} does not answer to --version. ${installHint}`
  return { ...found, installed: false, path, version: null, hint }
}
