import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** The version that the suite runs against. Raise it on purpose, and read what the tests say. */
export const claudeCodeVersion = '2.1.330'
const root = join(import.meta.dirname, '..', '..')

/**
 * The executable of the pinned Claude Code, fetched from npm into `.tools/agents` when it is not
 * there yet. Its package brings the program in a package per platform, so no install script is run.
 */
export async function claudeCodeBinary(): Promise<string> {
  const home = join(root, '.tools', 'agents', `claude-code-${claudeCodeVersion}`)
  const binary = join(home, 'node_modules', platformPackage(), process.platform === 'win32' ? 'claude.exe' : 'claude')
  if (!existsSync(binary)) await fetchInto(home)
  if (!existsSync(binary))
    throw new Error(`@anthropic-ai/claude-code ${claudeCodeVersion} has no program for this platform.`)
  return binary
}

function platformPackage(): string {
  const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } }
  const musl = process.platform === 'linux' && report.header?.glibcVersionRuntime === undefined ? '-musl' : ''
  return `@anthropic-ai/claude-code-${process.platform}-${process.arch}${musl}`
}

/** Fetches beside the place and moves: what is at the place is always whole. */
async function fetchInto(home: string): Promise<void> {
  const parent = join(home, '..')
  await mkdir(parent, { recursive: true })
  const draft = await mkdtemp(join(parent, '.fetching-'))
  try {
    const flags = ['--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
    const spec = `@anthropic-ai/claude-code@${claudeCodeVersion}`
    // npm is a .cmd file on Windows, which only a shell can start.
    const options = { cwd: draft, timeout: 600_000, shell: process.platform === 'win32' }
    await execute('npm', ['install', '--prefix', draft, ...flags, spec], options)
    await rm(home, { recursive: true, force: true })
    await rename(draft, home)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}
