import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient, type Client } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { testGitEnvironment } from '../helpers/git-repository.ts'
import { projectRoot } from '../helpers/project-root.ts'
import type { Build } from './row.ts'

/** The service as people run it (`svc serve`), in a process of its own, with somebody signed in. */
export interface Product extends AsyncDisposable {
  readonly pid: number
  readonly url: string
  readonly dataDir: string
  readonly token: string
  readonly client: Client
  /** The `performance.now()` at which it printed its address, before the sign-in. */
  readonly listeningAt: number
  /** Asks the module that was loaded beside the service, if one was. */
  ask(question: string): Promise<unknown>
}

const entries: Readonly<Record<Build, string>> = {
  dist: join(projectRoot, 'dist', 'main', 'cli.js'),
  sources: join(projectRoot, 'src-main', 'cli.ts'),
}

export const isBuilt = (): boolean => existsSync(entries.dist)

const person = { email: 'bench@copse.test', password: 'correct horse', display_name: 'Bench' }

/**
 * Starts it with its default settings on a free port and an empty data folder in `within`, which goes with it. `beside`
 * is a module to be loaded in the same process, which answers messages.
 */
export async function startProduct(build: Build, within: string = tmpdir(), beside?: URL): Promise<Product> {
  const dataDir = await mkdtemp(join(within, 'copse-bench-'))
  const remove = () => rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  try {
    const product = await openProduct(build, dataDir, beside)
    const stop = async () => {
      await product[Symbol.asyncDispose]()
      await remove()
    }
    return { ...product, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Starts it on a data folder that stays, and signs in the first person, who is registered if there is none. */
export async function openProduct(build: Build, dataDir: string, beside?: URL): Promise<Product> {
  const loaded = beside ? ['--import', beside.href] : []
  const args = [...loaded, entries[build], 'serve', '--json', '--port', '0', '--data-dir', dataDir]
  const child = spawn(process.execPath, args, {
    env: environment(),
    stdio: ['ignore', 'pipe', 'ignore', beside ? 'ipc' : 'ignore'],
  })
  const ask = async (question: string) => {
    const answered = once(child, 'message') as Promise<[unknown]>
    child.send(question)
    return (await answered)[0]
  }
  const stop = () => end(child)
  try {
    const url = await listening(child)
    const listeningAt = performance.now()
    let token: string | null = null
    const client = createClient(createHttpTransport({ baseUrl: url, getToken: () => token }))
    token = await signIn(client)
    if (child.pid === undefined) throw new Error('The service has no process.')
    return { pid: child.pid, url, dataDir, token, client, listeningAt, ask, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function signIn(client: Client): Promise<string> {
  try {
    return (await client.call('auth.register', person)).access_token
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'email_taken') throw error
    return (await client.call('auth.login', person)).access_token
  }
}

/** The same git configuration for both sides, and none of the person's own service settings. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'))
  // Repositories in memory can't be seen by a contained run; what containment costs has rows of its own.
  return { ...Object.fromEntries(own), ...testGitEnvironment, NODE_ENV: 'production', SVC_CONTAINMENT: 'none' }
}

async function listening(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('The service has no stdout.')
  const lines = createInterface(child.stdout)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The service ended with ${String(code)} before it listened.`)
  })
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  ended.catch(() => undefined)
  return (JSON.parse(line) as { url: string }).url
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
