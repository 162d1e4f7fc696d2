import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pinnedProgram } from '../agent-binaries.ts'

/** The protocol's own test programs. */
const pinnedTools = {
  conformance: {
    package: '@modelcontextprotocol/conformance',
    version: '0.1.16',
    program: () => join('@modelcontextprotocol', 'conformance', 'dist', 'index.js'),
  },
  inspector: {
    package: '@modelcontextprotocol/inspector',
    version: '2.12.0',
    program: () => join('.bin', 'mcp-inspector'),
  },
} as const

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the conformance suite against an endpoint with its expected failures; exits with 0 if all is as expected. */
export async function runConformance(url: string, expectedFailures: readonly string[]): Promise<Ended> {
  const home = await mkdtemp(join(tmpdir(), 'copse-conformance-'))
  try {
    const file = join(home, 'expected-failures.yaml')
    await writeFile(file, `server:\n${expectedFailures.map((name) => `  - ${name}\n`).join('')}`)
    const args = ['server', '--url', url, '--suite', 'all', '--expected-failures', file]
    return await run('conformance', args, home)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** Runs the inspector without its window: prints the answer to one method. */
export async function inspect(args: readonly string[]): Promise<Ended> {
  const home = await mkdtemp(join(tmpdir(), 'copse-inspector-'))
  try {
    return await run('inspector', ['--cli', ...args], home)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

async function run(name: keyof typeof pinnedTools, args: readonly string[], home: string): Promise<Ended> {
  const program = await pinnedProgram(name, pinnedTools[name])
  return new Promise((resolve) => {
    const options = { cwd: home, env: { ...process.env, HOME: home }, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 }
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr })
    })
  })
}
