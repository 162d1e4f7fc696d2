import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { createClient, type Client } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { builtFile, quickFork } from './built.ts'
import type { Commits, CountCommits } from './die-at-commit.ts'
import { eventually } from './eventually.ts'
import { projectRoot } from './project-root.ts'
import { signIn } from './running-app.ts'
import { strictClient } from './strict-client.ts'

/** The application in a process of its own. A kill leaves everything like a crash; disposing drains it. */
export interface KillableApp extends AsyncDisposable {
  readonly client: Client
  readonly url: string
  readonly pid: number | undefined
  eventually<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T>
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** Counts commits from now on, and kills itself at one of them (null: never). */
  count(die: CountCommits['die']): void
  /** The commits since `count`. */
  commits(): Promise<Commits>
  /** Resolves when the process is gone. */
  readonly exited: Promise<unknown>
}

export interface KillableOptions {
  /** How long the worktree of a cancelled task stays; a day by default. */
  readonly cleanupDelaySeconds?: number
  /** How far its clock is ahead. */
  readonly clockOffsetMs?: number
}

/** `mortal`: its commits can be counted, and it can be told to die at one. */
export async function startKillableApp(
  dataDir: string,
  kind: 'plain' | 'mortal' = 'plain',
  options: KillableOptions = {},
): Promise<KillableApp> {
  const child = await spawnApp(dataDir, kind, options)
  const exited = once(child, 'exit')
  const url = await Promise.race([readUrl(child), exited.then(() => Promise.reject(new Error('It did not start.')))])
  const over = (token: string | null) =>
    strictClient(createClient(createHttpTransport({ baseUrl: url, getToken: () => token })))
  const client = over(await signIn(over(null)))
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  const end = async () => {
    child.kill('SIGTERM')
    await exited
  }
  return {
    client,
    url,
    pid: child.pid,
    eventually: (read, fits) => eventually(client, read, fits),
    kill,
    count: (die) => {
      child.send({ die } satisfies CountCommits)
    },
    commits: async () => {
      const answered = once(child, 'message') as Promise<[Commits]>
      child.send('commits')
      return (await answered)[0]
    },
    exited,
    [Symbol.asyncDispose]: end,
  }
}

/** Starts it and kills it after this time, wherever it is by then. */
export async function killWhileStarting(
  dataDir: string,
  afterMs: number,
  options: KillableOptions = {},
): Promise<void> {
  const child = await spawnApp(dataDir, 'plain', options)
  const exited = once(child, 'exit')
  await setTimeout(afterMs)
  child.kill('SIGKILL')
  await exited
}

async function spawnApp(
  dataDir: string,
  kind: 'plain' | 'mortal',
  { cleanupDelaySeconds, clockOffsetMs }: KillableOptions,
): Promise<ChildProcess> {
  return fork(await builtFile('cli.js'), ['serve', '--json', '--port', '0', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: [
      ...(kind === 'mortal' ? ['--import', join(projectRoot, 'test', 'helpers', 'die-at-commit.ts')] : []),
      ...(clockOffsetMs === undefined ? [] : ['--import', join(projectRoot, 'test', 'helpers', 'shifted-clock.ts')]),
    ],
    env: {
      ...process.env,
      ...quickFork,
      SVC_BCRYPT_COST: '4',
      SVC_LOG_LEVEL: 'silent',
      ...(cleanupDelaySeconds !== undefined && { SVC_WORKSPACE_CLEANUP_DELAY_SECONDS: String(cleanupDelaySeconds) }),
      ...(clockOffsetMs !== undefined && { COPSE_TEST_CLOCK_OFFSET_MS: String(clockOffsetMs) }),
      // Many are started, so compiled code is cached.
      NODE_COMPILE_CACHE: join(projectRoot, 'node_modules', '.cache', 'node-compile'),
    },
  })
}

async function readUrl(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('It has no output.')
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line) as { url: string }
    return url
  }
  throw new Error('No answer.')
}
