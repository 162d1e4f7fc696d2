import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { defaultDataDir } from '../../src-main/platform/config/paths.ts'
import { failureText } from '../../src-renderer/formatters/failure-text.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import { scripted, startModelServer, type ModelServer } from '../fakes/model-server.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { writeMigratedDatabase } from '../helpers/migrated-database.ts'
import { present } from '../helpers/present.ts'
import { runApp, type RunningApp } from '../helpers/running-app.ts'
import { readTraces, type FileTrace } from './file-trace.ts'
import { apiKey, tableAgents, writeSettings, type TableAgent } from './table-agents.ts'

const execute = promisify(execFile)

/** What one run of an agent came to. */
export interface CellResult {
  readonly containment: string
  readonly status: string
  readonly exit_code: number | null
  readonly summary: string | null
  readonly task: string
  /** What the task's card and its note say. */
  readonly annotation: string | null
  /** Whether the file that the model had written is in the worktree. */
  readonly hasFile: boolean
  /** Whether the model was shown what its shell command printed. */
  readonly hasShell: boolean
  readonly denied: readonly string[]
  /** What is new or changed in the home folder, as paths from `~`. */
  readonly changed: readonly string[]
  readonly trace: FileTrace | null
  readonly seconds: number
  /** The end of the transcript. */
  readonly words: readonly string[]
}

/** What one process measures: an agent's run as set up by default, and one without containment before it. */
export interface CellRequest {
  readonly agent: string
  /** `used`: the agent has worked there before, uncontained. */
  readonly home: 'fresh' | 'used'
  /** The folder of traces; null: nothing is traced. */
  readonly traces: string | null
  /** Where the variables of the model server are: in the agent's configuration, or in the shell that started Copse. */
  readonly variables: 'agent' | 'shell'
  /** Further paths that the run may write. */
  readonly write: readonly string[]
}

export interface CellReport {
  readonly before: CellResult | null
  readonly result: CellResult
}

/** A run that takes longer is stopped. */
const maxSeconds = 90

/** Runs one cell in this process, whose home folder is the cell's. */
export async function runCell(request: CellRequest): Promise<CellReport> {
  const agent = present(tableAgents.find(({ name }) => name === request.agent))
  const home = homedir()
  await mkdir(join(home, 'src'), { recursive: true })
  await using model = await startModelServer({ apiKey })
  await using repository = await createTestRepository({ within: join(home, 'src') })
  const env = agent.env?.(model.url) ?? {}
  if (request.variables === 'shell') Object.assign(process.env, env)
  await writeSettings(agent, home, model.url)
  if (agent.configure) await execute('/bin/sh', ['-c', agent.configure(model.url)], { cwd: repository.path })
  await clear(request.traces)
  const dataDir = defaultDataDir(process.env, process.platform)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeMigratedDatabase(join(dataDir, 'copse.db'))
  await using running = await runApp({ dataDir, config: { containment: 'auto' } })
  const project = await running.client.call('projects.create', { name: 'Table', repo_path: repository.path })
  const write = [...request.write, ...(request.traces === null ? [] : [request.traces])]
  const config: AgentConfig = {
    ...(agent.command !== undefined && { command: agent.command }),
    ...(agent.model !== undefined && { model: agent.model }),
    ...(request.variables === 'agent' && { env }),
    ...(write.length > 0 && { extra_paths: { read: [], write } }),
  }
  const measure = (more: AgentConfig) =>
    runOnce(running, model, { agent, project_id: project.id, config: { ...config, ...more }, traces: request.traces })
  const before = request.home === 'used' ? await measure({ containment: 'none' }) : null
  return { before, result: await measure({}) }
}

interface OneRun {
  readonly agent: TableAgent
  readonly project_id: string
  readonly config: AgentConfig
  readonly traces: string | null
}

async function runOnce(
  running: RunningApp,
  model: ModelServer,
  { agent: { name, executor }, project_id, config, traces }: OneRun,
): Promise<CellResult> {
  const { client } = running
  const home = homedir()
  const agent = await client.call('agents.create', { name, executor, config })
  const steps = [
    { write: { path: 'greet.txt', content: 'hello\n' } },
    { shell: 'git status --short --untracked-files=all' },
    { say: 'greet.txt is there.' },
  ]
  const description = scripted('Write greet.txt.', steps)
  const task = await client.call('tasks.create', { project_id, title: 'Greet', description })
  const was = filesIn(home)
  const asked = model.log.length
  const start = performance.now()
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const execution_id = present(execution).id
  const run = async () => present((await client.call('tasks.executions', { task_id: task.id })).items.at(-1))
  let ended = await run()
  while (['queued', 'starting', 'running'].includes(ended.status)) {
    if (performance.now() - start > maxSeconds * 1_000) {
      await client.call('executions.stop', { execution_id })
    }
    await delay(100)
    ended = await run()
  }
  const seconds = (performance.now() - start) / 1_000
  const after = await settled(running, task.id)
  const annotation = after.error_annotation
  const workspace = await client.call('tasks.workspace', { task_id: task.id }).catch(() => null)
  const entries = await transcript(running, execution_id)
  const trace = traces === null ? null : traceInHome(traces)
  await clear(traces)
  const denied = entries.flatMap((entry) => (entry.type === 'denied' ? `${entry.what} ${tilde(entry.target)}` : []))
  return {
    containment: ended.containment ?? 'none',
    status: ended.status,
    exit_code: ended.exit_code,
    summary: ended.summary,
    task: after.status,
    annotation:
      annotation && [failureText(annotation), annotation.message, annotation.advice].filter((one) => one).join(' | '),
    hasFile: workspace !== null && existsSync(join(workspace.path, 'greet.txt')),
    hasShell: model.log.slice(asked).some(({ said }) => said.includes('?? greet.txt')),
    denied: [...new Set(denied)],
    changed: changes(was, filesIn(home)),
    trace,
    seconds: Math.round(seconds * 10) / 10,
    words: entries.slice(-8).map((entry) => JSON.stringify(entry).slice(0, 600)),
  }
}

/** Waits until the engine has said what it thinks of the end of a run. */
async function settled({ client }: RunningApp, task_id: string) {
  for (let tries = 0; ; tries++) {
    const task = await client.call('tasks.get', { task_id })
    if (task.error_annotation !== null || task.status !== 'in_progress' || tries === 50) return task
    await delay(100)
  }
}

async function transcript({ client }: RunningApp, execution_id: string): Promise<TranscriptEntry[]> {
  const found: TranscriptEntry[] = []
  for await (const item of client.transcript({ execution_id }, null, AbortSignal.timeout(30_000)))
    if (item.kind === 'entry') found.push(item.entry)
  return found
}

const tilde = (path: string): string => path.replaceAll(homedir(), '~')

/** Copse's own folder, and that of the repositories. */
const others = ['.local/share/copse', 'src']

const isOthers = (name: string): boolean => others.some((other) => name === other || name.startsWith(`${other}/`))

/** Returns what the traces say of the home folder, as paths from `~`. */
function traceInHome(folder: string): FileTrace {
  const home = homedir()
  const trace = readTraces(folder, (path) => path.startsWith(`${home}/`) && !isOthers(relative(home, path)))
  return Object.fromEntries(Object.entries(trace).map(([kind, paths]) => [kind, paths.map(tilde)])) as typeof trace
}

/** Returns the time of change and the size of each file in the home folder. */
function filesIn(home: string): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      const name = relative(home, path)
      if (isOthers(name)) continue
      if (entry.isDirectory()) walk(path)
      const { mtimeMs = 0, size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
      found.set(`~/${name}${entry.isDirectory() ? '/' : ''}`, entry.isDirectory() ? '' : `${mtimeMs} ${size}`)
    }
  }
  walk(home)
  return found
}

const changes = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...after].flatMap(([name, state]) => (before.get(name) === state ? [] : name)).sort()

async function clear(folder: string | null): Promise<void> {
  if (folder === null) return
  for (const name of await readdir(folder)) await rm(join(folder, name))
}
