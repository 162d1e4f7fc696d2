import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
/** The pinned agents, each in a folder of its own. */
export const agentsFolder = join(root, '.tools', 'agents')
const windows = process.platform === 'win32'

interface PinnedProgram {
  readonly package: string
  /** The version that the suite runs against. Raise it on purpose, and read what the tests say. */
  readonly version: string
  /** The program below `node_modules`. */
  readonly program: () => string
}

const shim = (name: string) => () => join('.bin', windows ? `${name}.cmd` : name)

/** The agents of the suite. Their packages contain their programs, so no install script runs. */
export const pinnedAgents = {
  'claude-code': {
    package: '@anthropic-ai/claude-code',
    version: '2.1.332',
    program: () => join('@anthropic-ai', `claude-code-${platform()}${musl()}`, windows ? 'claude.exe' : 'claude'),
  },
  codex: { package: '@openai/codex', version: '0.171.0', program: shim('codex') },
  opencode: {
    package: 'opencode-ai',
    version: '1.18.33',
    program: () =>
      join(`opencode-${platform().replace('win32', 'windows')}${musl()}`, 'bin', windows ? 'opencode.exe' : 'opencode'),
  },
  gemini: { package: '@google/gemini-cli', version: '0.61.0', program: shim('gemini') },
  copilot: { package: '@github/copilot', version: '1.0.102', program: shim('copilot') },
  qwen: { package: '@qwen-code/qwen-code', version: '0.24.4', program: shim('qwen') },
  'claude-agent-acp': {
    package: '@agentclientprotocol/claude-agent-acp',
    version: '0.101.0',
    program: shim('claude-agent-acp'),
  },
} as const satisfies Readonly<Record<string, PinnedProgram>>

/** Agents that only the table of containment runs: 2 GB that the suite doesn't need. */
export const furtherAgents = {
  'codex-acp': { package: '@agentclientprotocol/codex-acp', version: '2.6.0', program: shim('codex-acp') },
  pi: { package: '@earendil-works/pi-coding-agent', version: '1.5.2', program: shim('pi') },
  cn: { package: '@continuedev/cli', version: '1.5.47', program: shim('cn') },
  cline: { package: 'cline', version: '3.0.65', program: shim('cline') },
  kilo: { package: '@kilocode/cli', version: '7.7.7', program: shim('kilo') },
  nanocoder: { package: '@nanocollective/nanocoder', version: '1.30.0', program: shim('nanocoder') },
  grok: { package: '@xai-official/grok', version: '1.0.41', program: shim('grok') },
  kimi: { package: '@moonshot-ai/kimi-code', version: '2.1.0', program: shim('kimi') },
  reasonix: { package: 'reasonix', version: '1.38.11', program: shim('reasonix') },
} as const satisfies Readonly<Record<string, PinnedProgram>>
export type PinnedAgentName = keyof typeof pinnedAgents | keyof typeof furtherAgents

export const pinnedAgent = (name: PinnedAgentName): PinnedProgram => ({ ...pinnedAgents, ...furtherAgents })[name]

const platform = (): string => `${process.platform}-${process.arch}`

function musl(): string {
  const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } }
  return process.platform === 'linux' && report.header?.glibcVersionRuntime === undefined ? '-musl' : ''
}

/** The program of a pinned agent, fetched from npm into `.tools/agents` if missing. */
export function agentBinary(name: PinnedAgentName): Promise<string> {
  return pinnedProgram(name, pinnedAgent(name))
}

/** The program of a package at its pinned version, fetched into `.tools/agents` if missing. */
export async function pinnedProgram(name: string, pinned: PinnedProgram): Promise<string> {
  const home = join(agentsFolder, `${name}-${pinned.version}`)
  const binary = join(home, 'node_modules', pinned.program())
  if (!existsSync(binary)) await fetchInto(home, `${pinned.package}@${pinned.version}`)
  if (!existsSync(binary)) throw new Error(`${pinned.package} ${pinned.version} has no program for this platform.`)
  return binary
}

/** Fetches beside the target and moves, so that the target is always whole. */
async function fetchInto(home: string, spec: string): Promise<void> {
  const parent = join(home, '..')
  await mkdir(parent, { recursive: true })
  const draft = await mkdtemp(join(parent, '.fetching-'))
  try {
    const flags = ['--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
    // npm is a .cmd file on Windows, which only a shell can start.
    const options = { cwd: draft, timeout: 600_000, shell: windows }
    await execute('npm', ['install', '--prefix', draft, ...flags, spec], options)
    await rm(home, { recursive: true, force: true })
    await rename(draft, home)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}
