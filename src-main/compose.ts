import { homedir } from 'node:os'
import { join } from 'node:path'
import type { WorkflowDefinition } from '../src-shared/contract/workflow-definition.ts'
import type { User } from '../src-shared/contract/identity.ts'
import type { Api } from './api/api.ts'
import { createApi } from './api/create-api.ts'
import { isExposed, type AppConfig } from './platform/config/config.ts'
import { createLogger, type Logger } from './platform/logging/log.ts'
import { canTellPeers } from './platform/process/peer-socket.ts'
import { defaultDataDir, prepareDataDir } from './platform/config/paths.ts'
import type { SecretSeal } from './platform/config/secret-seal.ts'
import { createRedactor, validateRedactionPattern } from './platform/text/redact.ts'
import { asksForUser, type RegistrationPolicy } from './domain/access/registration.ts'
import { thisProcess } from './domain/access/request-source.ts'
import { validateWorkflow } from './domain/workflow/validate.ts'
import type { EngineContext } from './engine/engine-context.ts'
import { createPlaces } from './places/create-places.ts'
import { branchStarts } from './core/branch-starts.ts'
import { createProjectBases } from './places/project-bases.ts'
import { createRunnerKinds } from './places/runner-kinds.ts'
import type { RunnerKinds } from './ports/runner-kinds.ts'
import { runnersIn } from './core/runner-of.ts'
import { createLocalPlace } from './places/local-place.ts'
import type { Elsewhere } from './places/remote/remote-place.ts'
import { createElsewhere } from './create-elsewhere.ts'
import type { Place, Places, SharedParts } from './ports/place.ts'
import { createChapters, type Chapters } from './chapters/chapters.ts'
import { helpGit } from './git/process/git-helper.ts'
import type { HelperStarter } from './platform/process/helper-process.ts'
import { createSyntaxReader } from './chapters/syntax/create-syntax-reader.ts'
import { createDiffWatches, type DiffWatchers } from './workspaces/diff-watches.ts'
import { adoptOwnerless } from './projects/adopt-ownerless.ts'
import { createEngine, type Engine } from './engine/create-engine.ts'
import { createKnownSecrets } from './core/known-secrets.ts'
import { createIntegrations, type Integrations } from './integrations/integrations.ts'
import { createDurableWrites } from './core/durable-writes.ts'
import { createEventFeed, type EventFeed, type Tx } from './core/event-feed.ts'
import { createTaskEventLogger } from './engine/task-event-logger.ts'
import type { Clock } from './ports/clock.ts'
import { changeWorkflow } from './projects/change-workflow.ts'
import { pluginTraits } from './plugins/create-plugins.ts'
import { createWorkflows } from './core/workflows.ts'
import { createAgentHomes } from './containment/agent-homes.ts'
import { createDataFolders } from './containment/data-folders.ts'
import { createContainment } from './containment/create-containment.ts'
import type { AgentHomes } from './ports/agent-homes.ts'
import type { Containment } from './ports/containment.ts'
import { credentialFolders } from './agents/create-executors.ts'
import type { Announcement, IdentityStore } from './identity/identity-store.ts'
import { createIdentity, type Identity, type IdentityOptions } from './identity/create-identity.ts'
import { createForges } from './integrations/forges/create-forges.ts'
import { createIssueTrackers } from './integrations/forges/create-issue-trackers.ts'
import { createAttachmentFiles } from './attachments/create-attachment-files.ts'
import { createLogs } from './logs/create-logs.ts'
import { createServer } from './server/create-server.ts'
import { createGrowingIds } from './platform/growing-ids.ts'
import { createStore } from './store/create-store.ts'
import { newestId } from './store/newest-id.ts'
import { openDatabase, type OpenDatabase } from './store/database.ts'
import { isDatabaseError, unusable } from './store/database-trouble.ts'
import { createIdentityStore } from './store/identity-store.ts'
import { openWorkflowFiles, type WorkflowFiles } from './workflow-files/create-workflow-files.ts'
import { loadWorkflowFile } from './workflow-files/load.ts'
import { createGit } from './git/create-git.ts'
import { createGitViews } from './git/view/git-views.ts'
import type { GitViews } from './ports/git-views.ts'
import { createAgentTests, type AgentTests } from './agents/test-agent.ts'
import { makeSampleRepository } from './git/sample-repository.ts'

export { rotateSigningKey } from './identity/signing-key.ts'

export interface App extends AsyncDisposable {
  readonly api: Api
  readonly identity: Identity
  /**
   * Opens the HTTP server, then starts the engine, because agents need the server's address. Rejects when the port is
   * taken.
   */
  listen(): Promise<{ readonly url: string }>
  /** Stops agents, connections and the database; the next start resumes unfinished work. A second call does nothing. */
  close(): Promise<void>
}

export interface AppOptions {
  /** Lets a test inject its own parts. */
  readonly clock?: Clock
  readonly log?: Logger
  /** Encrypts secrets in files; the desktop app injects one. */
  readonly seal?: SecretSeal | null
  /** Starts the helper that starts git; without it, this process always does. */
  readonly startHelper?: HelperStarter
  /** All places of tasks, or only what the kinds of runners can do, with what they share with this machine. */
  readonly places?: (here: Place, shared: SharedParts) => Places
  readonly runnerKinds?: (here: Place, shared: SharedParts, elsewhere: Elsewhere) => RunnerKinds
}

/**
 * Builds every module once and recovers from a crash; `listen` starts the engine. The window, the headless service
 * and the tests share this graph.
 */
export async function createApp(config: AppConfig, options: AppOptions = {}): Promise<App> {
  const { clock = { now: () => Date.now() }, seal = null } = options
  const log = options.log ?? createLogger({ level: config.logLevel })
  prepareDataDir(config.dataDir)
  const builtin = await loadWorkflowFile(join(config.workflowsDir, 'default.yaml'))
  const file = join(config.dataDir, 'copse.db')
  const database = await openDatabase(file, config.migrationsDir)
  const store = createStore(database)
  const newId = createGrowingIds(newestId(database.db))
  let url: string | null = null
  const damage = watchDamage(database, log)
  try {
    const feed = createEventFeed(store, clock, createTaskEventLogger(log.child({ module: 'task-events' })))
    const identity = identityOf(config, { store: identityStore(database, feed), clock, newId, seal })
    const variable = (name: string) => process.env[name]?.trim() ?? ''
    const secrets = createKnownSecrets(store.read, variable)
    const views = createGitViews({ dataDir: config.dataDir, log: log.child({ module: 'views' }) })
    const containment = containmentOf(config, { views, store, log, url: () => url })
    const homes = createAgentHomes({ dataDir: config.dataDir })
    const elsewhere = createElsewhere(config, { store, feed, clock, newId, log })
    const engineParts = {
      elsewhere,
      containment,
      homes,
      views,
      config,
      store,
      feed,
      identity,
      secrets,
      clock,
      newId,
      log,
      url: () => url,
    }
    const context = contextOf({ ...engineParts, builtin: builtin.definition }, options)
    const engine = createEngine(context)
    checkBuiltin(builtin.definition, engine)
    const templates = await openWorkflowFiles({
      dir: join(config.dataDir, 'workflows'),
      shippedDir: config.workflowsDir,
      plugins: engine.plugins,
    })
    const gitHelp = helpGit(options.startHelper, log.child({ module: 'git' }))
    const diffWatches = createDiffWatches(context, engine.worktrees)
    const chapters = createChapters(context, engine.worktrees, createSyntaxReader())
    const trackers = createIssueTrackers({ env: process.env, clock, version: config.version })
    const integrations = createIntegrations(context, trackers, variable, (task_id, issue) => {
      engine.pullRequests.issueClosed(task_id, issue)
    })
    const agentTests = agentTestsOf(config, context)
    const api = apiOf(config, {
      context,
      engine,
      integrations,
      identity,
      templates,
      diffWatches,
      chapters,
      agentTests,
      damage,
      containment,
      homes,
    })
    const server = createServer({ api, identity, config, log: log.child({ module: 'server' }), ...elsewhere.doors })
    await context.runnerKinds.tidy(store.read.runners.list())
    await engine.recover()
    await agentTests.sweep()
    await elsewhere.start(server)
    const close = once(async () => {
      elsewhere.jobs.close()
      const inTurn = [server, diffWatches, chapters, integrations, engine, context.runnerKinds, containment, gitHelp]
      for (const part of inTurn) await part.close()
      store.close()
    })
    return {
      api,
      identity,
      listen: async () => {
        url = await server.listen()
        logReachability(policyOf(config), identity, url, log)
        if (!canTellPeers()) log.warn('this system does not tell which program calls: runs can use any token they find')
        logContainment(config, containment, log)
        engine.start()
        integrations.start()
        return { url }
      },
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    store.close()
    throw (isDatabaseError(error) ? unusable(file, error) : null) ?? error
  }
}

function identityOf(config: AppConfig, parts: Omit<IdentityOptions, 'config'>): Identity {
  return createIdentity({ ...parts, config: { ...config, registration: policyOf(config) } })
}

function policyOf(config: AppConfig): RegistrationPolicy {
  return {
    registration: config.registration,
    startedAs: config.startedAs ?? 'serve',
    exposed: isExposed(config),
  }
}

/** Logs who can reach the service and register, where that is more than people expect. */
function logReachability(policy: RegistrationPolicy, identity: Identity, url: string, log: Logger): void {
  if (policy.exposed) {
    const details = { url, registration: policy.registration }
    identity.securityLog.note({ type: 'exposed', user_id: null, actor: 'system', source: thisProcess, details })
  }
  if (policy.exposed && policy.registration === 'open') {
    log.warn('anyone who can reach this service can create an account (SVC_REGISTRATION=open)')
  }
  if (asksForUser(policy, !identity.isRegistered()) && !canTellPeers()) {
    log.warn(
      'this system does not tell whose a connection is: the first account is let in from any of its users, later ones need an invite',
    )
  }
}

/** Warns once when contained agents or projects can't be contained here. */
function logContainment({ containment: auto }: AppConfig, containment: Containment, log: Logger): void {
  if (auto !== 'auto') return
  const { available, reason } = containment.status()
  if (!available) log.warn(`runs are not contained: ${reason ?? ''}`)
}

interface EngineParts {
  readonly elsewhere: Elsewhere
  readonly config: AppConfig
  readonly containment: Containment
  readonly homes: AgentHomes
  readonly views: GitViews
  readonly store: EngineContext['store']
  readonly feed: EventFeed
  readonly identity: Identity
  readonly secrets: ReturnType<typeof createKnownSecrets>
  readonly clock: Clock
  readonly newId: () => string
  readonly log: Logger
  readonly url: () => string | null
  readonly builtin: Parameters<typeof createWorkflows>[0]
}

function containmentOf(
  config: AppConfig,
  { views, store, log, url }: Pick<EngineParts, 'views' | 'store' | 'log' | 'url'>,
): Containment {
  return createContainment({
    dataDir: config.dataDir,
    otherData: createDataFolders(config.dataDir, defaultDataDir(process.env, process.platform)),
    views,
    workspaceRoot: config.workspaceRoot,
    credentials: () => credentialFolders(store.read.agents.list()),
    auto: config.containment ?? 'none',
    apiUrl: url,
    log: log.child({ module: 'containment' }),
  })
}

/** Creates the engine's context of real worktrees, processes and logs. */
function contextOf(parts: EngineParts, options: Pick<AppOptions, 'places' | 'runnerKinds'>): EngineContext {
  const { config, containment, homes, views, store, feed, identity, secrets, clock, newId, log, url, builtin } = parts
  const git = createGit({
    log: log.child({ module: 'workspaces' }),
    clock,
    trusted: (common) => store.read.trusted_repositories.get(common)?.programs ?? null,
    dataDir: config.dataDir,
    containment,
    views,
  })
  const here = createLocalPlace({ workspaceRoot: config.workspaceRoot, git, containment, homes })
  const bases = createProjectBases({ ...here, ...branchStarts(store.read), files: git.baseFiles })
  const shared = { views, bases, machine: containment, dataDir: config.dataDir, apiUrl: url, log }
  const runnerKinds = (options.runnerKinds ?? createRunnerKinds)(here, shared, parts.elsewhere)
  const ownPlaces = { here, runners: store.read.runners, kinds: runnerKinds, ...runnersIn(store.read) }
  return {
    store,
    feed,
    writes: createDurableWrites({ log: log.child({ module: 'engine' }) }),
    places: options.places?.(here, shared) ?? createPlaces(ownPlaces),
    runnerKinds,
    repositories: git.repositories,
    target: git.target,
    rescues: git.rescues,
    overlaps: git.overlaps,
    baseConflicts: git.baseConflicts,
    pusher: git.pusher,
    forges: createForges({ env: process.env, clock, version: config.version }),
    logs: createLogs({ dir: join(config.dataDir, 'logs') }),
    attachmentFiles: createAttachmentFiles({ dir: join(config.dataDir, 'attachments') }),
    agentTokens: identity.agentTokens,
    clock,
    newId,
    redactor: (patterns) => createRedactor(patterns, secrets.values()),
    rememberSecrets: secrets.remember,
    workflows: createWorkflows(builtin, pluginTraits),
    log: log.child({ module: 'engine' }),
    cleanupDelaySeconds: config.cleanupDelaySeconds,
    apiUrl: url,
  }
}

/** Logs database damage that is found while the service runs. Returns a getter of the damage found so far. */
function watchDamage({ damage }: OpenDatabase, log: Logger): () => string | null {
  let found: string | null = null
  void damage.then((error) => {
    found = error?.message ?? null
    if (found !== null) log.error(found)
  })
  return () => found
}

function identityStore({ db }: OpenDatabase, feed: EventFeed): IdentityStore {
  return createIdentityStore(db, <T>(work: (announce: Announcement) => T) =>
    feed.commit((tx) => work({ registered: (user, isFirst) => register(tx, user, isFirst) })),
  )
}

/** Announces a new user to all who see accounts, and gives the first one what has no owner. */
function register(tx: Tx, user: User, isFirst: boolean): void {
  tx.emit('user.updated', { project_id: null, user })
  if (isFirst) adoptOwnerless(tx, user.id)
}

interface ApiPieces {
  readonly context: EngineContext
  readonly engine: Engine
  readonly integrations: Integrations
  readonly identity: Identity
  readonly templates: WorkflowFiles
  readonly diffWatches: DiffWatchers
  readonly chapters: Chapters
  readonly agentTests: AgentTests
  readonly damage: () => string | null
  readonly containment: Containment
  readonly homes: AgentHomes
}

/** Tests each agent in a temporary repository that is removed afterwards. */
function agentTestsOf({ dataDir }: AppConfig, { places, redactor, clock, newId }: EngineContext): AgentTests {
  const root = join(dataDir, 'agent-tests')
  const makeFolder = (name: string, signal: AbortSignal) => makeSampleRepository(join(root, name), {}, signal)
  return createAgentTests({ executors: places.here.runs, root, makeFolder, redactor: () => redactor([]), clock, newId })
}

function apiOf(config: AppConfig, pieces: ApiPieces): Api {
  const { context, engine, integrations, identity, templates, diffWatches, chapters, agentTests } = pieces
  const { damage, containment, homes } = pieces
  const { store, feed, workflows, places, repositories, logs, clock, newId } = context
  return createApi({
    store,
    feed,
    engine,
    integrations,
    workflows,
    changeWorkflow: (tx, project, text) => changeWorkflow({ workflows, plugins: engine.plugins }, tx, project, text),
    templates,
    identity,
    places,
    repositories,
    diffWatches,
    chapters,
    containment,
    homes,
    testAgent: agentTests.run,
    logs,
    clock,
    newId,
    redactor: context.redactor,
    isUsablePattern: validateRedactionPattern,
    makeSampleRepository: (files, signal) =>
      makeSampleRepository(join(config.dataDir, 'demo', `demo-${newId().slice(-8)}`), files, signal),
    config: {
      version: config.version,
      dataDir: config.dataDir,
      homeDir: homedir(),
      url: context.apiUrl,
      exposed: isExposed(config),
      projectCreators: config.projectCreators ?? (isExposed(config) ? 'admins' : 'all'),
      cleanupDelaySeconds: config.cleanupDelaySeconds,
      damage,
    },
  })
}

/** Checks a shipped template at startup, so that a broken one fails the start and not a task later. */
function checkBuiltin(definition: WorkflowDefinition, engine: Engine): void {
  const [issue] = validateWorkflow(definition, engine.plugins)
  if (issue) throw new Error(`The built-in workflow is broken at ${issue.path}: ${issue.message}`)
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null
  return () => (done ??= work())
}
