import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createLogger, type Logger } from '../../src-main/platform/logging/log.ts'
import type { AppConfig } from '../../src-main/platform/config/config.ts'
import { createApp, type App, type AppOptions } from '../../src-main/compose.ts'
import { createClient, type Client } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import type { Clock } from '../../src-main/ports/clock.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { eventually } from './eventually.ts'
import { writeMigratedDatabase } from './migrated-database.ts'
import { projectRoot } from './project-root.ts'
import { strictClient } from './strict-client.ts'

/** The whole application on a free port, with its own data folder and a person signed in. */
export interface RunningApp extends AsyncDisposable {
  readonly app: App
  readonly url: string
  readonly dataDir: string
  /** Over HTTP, as the first person who registered; fails on any answer that the contract does not describe. */
  readonly client: Client
  readonly token: string
  clientWith(token: string | null): Client
  /** Resolves with the task once it matches; waits for events, never for time. */
  taskWhere(task_id: string, fits: (task: Task) => boolean): Promise<Task>
  /** Reads again after every event until the result matches. */
  eventually<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T>
  /** Stops the application and starts it again on the same data folder. */
  restart(): Promise<RunningApp>
}

export interface RunOptions {
  readonly dataDir?: string
  readonly config?: Partial<AppConfig>
  readonly keepData?: boolean
  readonly clock?: Clock
  /** Nothing is logged by default. */
  readonly log?: Logger
  /** Leaves the registration of the first person to the test. */
  readonly unregistered?: boolean
  readonly places?: AppOptions['places']
  readonly runnerKinds?: AppOptions['runnerKinds']
}

const person = { email: 'owner@copse.test', password: 'correct horse', display_name: 'Owner' }

export async function runApp(options: RunOptions = {}): Promise<RunningApp> {
  const dataDir = options.dataDir ?? (await newDataDir())
  const app = await createApp(
    {
      dataDir,
      host: '127.0.0.1',
      port: 0,
      workspaceRoot: join(dataDir, 'workspaces'),
      cleanupDelaySeconds: 86_400,
      bcryptCost: 4,
      registration: 'open',
      logLevel: 'silent',
      webRoot: null,
      workflowsDir: resolve(projectRoot, 'workflows'),
      migrationsDir: resolve(projectRoot, 'src-main/store/migrations'),
      runnerProgram: resolve(projectRoot, 'dist/runner/runner.mjs'),
      version: '0.0.0-test',
      ...options.config,
    },
    {
      log: options.log ?? createLogger({ level: process.env['COPSE_TEST_LOG'] === '1' ? 'debug' : 'silent' }),
      ...(options.clock && { clock: options.clock }),
      ...(options.places && { places: options.places }),
      ...(options.runnerKinds && { runnerKinds: options.runnerKinds }),
    },
  )
  const { url } = await app.listen()
  const clientWith = (token: string | null) =>
    strictClient(createClient(createHttpTransport({ baseUrl: url, getToken: () => token })))
  const anonymous = clientWith(null)
  const token = options.unregistered ? '' : await signIn(anonymous)
  const client = clientWith(token)
  const close = async () => {
    await app.close()
    if (!options.keepData) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
  return {
    app,
    url,
    dataDir,
    client,
    token,
    clientWith,
    taskWhere: (task_id, fits) => eventually(client, () => client.call('tasks.get', { task_id }), fits),
    eventually: (read, fits) => eventually(client, read, fits),
    restart: async () => {
      await app.close()
      return runApp({ ...options, dataDir })
    },
    [Symbol.asyncDispose]: close,
  }
}

async function newDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-app-'))
  await writeMigratedDatabase(join(dataDir, 'copse.db'))
  return dataDir
}

/** Registers the first person, or signs them in; returns their token. */
export async function signIn(anonymous: Client): Promise<string> {
  try {
    return (await anonymous.call('auth.register', person)).access_token
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'email_taken') throw error
    return (await anonymous.call('auth.login', person)).access_token
  }
}
