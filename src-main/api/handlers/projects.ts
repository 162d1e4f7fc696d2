import { givenFields } from '../../../src-shared/lang/given-fields.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { ProjectId, RepoId, UserId } from '../../../src-shared/contract/ids.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { invalidInput } from '../../domain/refusal.ts'
import { isAdmin, type Principal } from '../../domain/access/principal.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { definitionWarnings } from '../../domain/workflow/read-definition.ts'
import { dryRun } from '../../domain/workflow/dry-run.ts'
import { hasTrait, clientTraits, type Workflow } from '../../domain/workflow/graph.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { ProjectRecord } from '../../ports/project-queries.ts'
import { checkProjectRunners } from '../named-runners.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { checkExtraPaths } from '../containment.ts'
import { unwrap, findProject } from '../find.ts'
import { transferProject } from '../project-owner.ts'
import { canSeeProject } from '../project-visibility.ts'
import { definitionOf, definitionText, findTemplate } from '../workflow-update.ts'
import { lifecycleProblems } from '../hook-problems.ts'

type Names =
  | 'system.get'
  | 'system.inspect_folder'
  | 'system.nearby_repositories'
  | 'projects.list'
  | 'projects.create'
  | 'projects.get'
  | 'projects.update'
  | 'projects.delete'
  | 'projects.get_settings'
  | 'projects.update_settings'
  | 'projects.get_workflow'
  | 'projects.dry_run'

const given = givenFields<ProjectRecord>()

/** Leaves out the file's path, which is for admins. */
function damageText(damage: string | null, principal: Principal): string | null {
  return damage === null || isAdmin(principal) ? damage : 'The database is damaged. An admin can see what to do.'
}

export function createProjectHandlers(parts: ApiParts): Handlers<Names> {
  const { store, engine, repositories, identity, config, workflows } = parts
  const { read } = store
  const { views } = engine
  return {
    'system.get': (_input, { principal }) => ({
      version: config.version,
      data_dir: isAdmin(principal) ? config.dataDir : null,
      home_dir: isAdmin(principal) ? config.homeDir : null,
      registered: identity.isRegistered(),
      local_operator: principal.kind === 'operator' || (principal.kind === 'user' && principal.via === 'local'),
      url: config.url(),
      damage: damageText(config.damage(), principal),
      containment: parts.containment.status(),
      exposed: config.exposed,
    }),
    'system.inspect_folder': async ({ path }, { signal }) => {
      const { root, name, default_branch, branches } = await repositories.inspect(path, { signal })
      const runs = await repositories.runs(root, { signal })
      return { path: root, name, default_branch, branches: [...branches], runs: [...runs] }
    },
    'system.nearby_repositories': async (_input, { signal }) => {
      const known = new Set(read.projects.list().flatMap(({ id }) => read.repos.byProject(id).map(({ path }) => path)))
      const found = await repositories.nearby(config.homeDir, { signal })
      return { items: found.filter(({ path }) => !known.has(path)) }
    },
    'projects.list': (_input, { principal }) => ({
      items: read.projects
        .list()
        .filter((project) => canSeeProject(read, principal, project))
        .map((project) => views.project(project)),
    }),
    'projects.create': async ({ repo_path, default_branch, workflow_template, ...fields }, { principal, signal }) => {
      const workflow =
        workflow_template === undefined ? '' : definitionText(await findTemplate(parts, workflow_template))
      const info = await repositories.inspect(repo_path, { signal })
      const branch = default_branch ?? info.default_branch
      if (!info.branches.includes(branch)) {
        const message = `The repository has no branch ${branch}. It has: ${info.branches.slice(0, 20).join(', ')}.`
        throw new ApiError(invalidInput('default_branch', message))
      }
      await engine.repositories.trust(info.root, signal)
      return views.project(
        createProject(parts, {
          fields: given(fields),
          root: info.root,
          repo: info.name,
          branch,
          workflow,
          owner: ownerOf(principal),
        }),
      )
    },
    'projects.get': ({ project_id }) => views.project(findProject(read, project_id)),
    'projects.update': ({ project_id, paused_at, owner_id, workflow_definition, ...fields }, { principal }) => {
      const before = findProject(read, project_id)
      const updated = unwrap(
        parts.feed.commit((tx) => {
          const project = transferProject(tx, findProject(tx, project_id), owner_id, principal)
          checkKey(tx, project.id, fields.key)
          const changed = { ...project, ...given(fields), paused_at: pausedAt(project, paused_at) }
          if (workflow_definition === undefined) return write(parts, tx, changed)
          return parts.changeWorkflow(tx, changed, workflow_definition)
        }),
      )
      // A resumed project, or a limit that was raised, lets more start.
      const isResumed = before.paused_at !== null && updated.paused_at === null
      if (isResumed || workflow_definition !== undefined) engine.scheduler.startQueued()
      return workflow_definition === undefined
        ? views.project(updated)
        : { ...views.project(updated), warnings: definitionWarnings(parseJson(workflow_definition)) }
    },
    'projects.delete': ({ project_id, delete_branches = false }) => {
      findProject(read, project_id)
      const open = read.executions.queue(project_id)
      if (open.length > 0) {
        const message = `${open.length} runs are active in this project. Stop them first.`
        throw new ApiError({ code: 'project_busy', message, details: { executions: open.map((one) => one.id) } })
      }
      engine.projectDeletions.delete(project_id, { delete_branches })
      return null
    },
    'projects.get_settings': ({ project_id }) => views.settings(findProject(read, project_id)),
    'projects.update_settings': ({ project_id, ...patch }) => {
      const project = findProject(read, project_id)
      for (const [index, pattern] of (patch.redaction_patterns ?? []).entries()) {
        const why = parts.isUsablePattern(pattern)
        if (why !== null) {
          const issues = [{ path: `redaction_patterns.${index}`, message: why }]
          throw new ApiError({
            code: 'validation_failed',
            message: `The pattern ${pattern} can't be used: ${why}`,
            details: { issues },
          })
        }
      }
      checkExtraPaths(parts, 'extra_paths', patch.extra_paths)
      checkProjectRunners(read, project_id, [
        ...(patch.runner_ids ?? []),
        ...(patch.ci_runner ? [patch.ci_runner] : []),
      ])
      const issues = lifecycleProblems(engine.plugins, patch.lifecycle_hooks ?? {})
      const [first] = issues
      if (first) throw new ApiError({ code: 'validation_failed', message: first.message, details: { issues } })
      const named = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
      const updated = saveProject(parts, { ...project, settings: { ...project.settings, ...named } })
      engine.scheduler.startQueued()
      return views.settings(updated)
    },
    'projects.get_workflow': ({ project_id }) =>
      resolved(workflows.of(findProject(read, project_id).workflow_definition), config.cleanupDelaySeconds),
    'projects.dry_run': ({ project_id, definition }) => {
      const workflow =
        definition === undefined
          ? workflows.of(findProject(read, project_id).workflow_definition)
          : workflows.index(definitionOf(parts, definition))
      const warnings = definition === undefined ? [] : definitionWarnings(definition)
      return { ...dryRun(workflow), warnings }
    },
  }
}

/** Returns the definition with its default delay, in seconds, of removing a cancelled task's worktree. */
function resolved(workflow: Workflow, seconds: number): WorkflowDefinition {
  const { definition } = workflow
  const states = definition.states.map((state) =>
    state.name === workflow.cancellation?.name && !state.cleanup && !hasTrait(workflow, state, 'owns_cleanup')
      ? { ...state, cleanup: { policy: 'delayed' as const, seconds } }
      : state,
  )
  return { ...definition, states, traits: clientTraits(workflow) }
}

function ownerOf(principal: Principal): UserId | null {
  return principal.kind === 'user' ? principal.user_id : null
}

function saveProject(parts: ApiParts, project: ProjectRecord): ProjectRecord {
  return parts.feed.commit((tx) => write(parts, tx, project))
}

function write(parts: ApiParts, tx: Tx, project: ProjectRecord): ProjectRecord {
  const updated = { ...project, updated_at: new Date(parts.clock.now()).toISOString() }
  tx.projects.put(updated)
  tx.emit('project.updated', { project_id: project.id, project: parts.engine.views.project(updated) })
  return updated
}

function pausedAt(project: ProjectRecord, wanted: string | null | undefined): string | null {
  if (wanted === undefined) return project.paused_at
  return wanted && new Date(wanted).toISOString()
}

function createProject(
  parts: ApiParts,
  request: {
    fields: { readonly name: string; readonly key?: string }
    root: string
    repo: string
    branch: string
    workflow: string
    owner: UserId | null
  },
): ProjectRecord {
  return parts.feed.commit((tx) => {
    const id = parts.newId() as ProjectId
    checkKey(tx, id, request.fields.key)
    const project: ProjectRecord = {
      key: tx.projects.freeKey(request.fields.name),
      ...request.fields,
      id,
      owner_id: request.owner,
      paused_at: null,
      workflow_definition: request.workflow,
      settings: { ci_containment: 'auto' },
      created_at: tx.now(),
      updated_at: tx.now(),
    }
    tx.projects.put(project)
    tx.repos.put({
      id: parts.newId() as RepoId,
      project_id: project.id,
      name: request.repo,
      path: request.root,
      default_branch: request.branch,
      is_primary: true,
    })
    if (request.owner !== null) tx.members.put(project.id, request.owner, 'owner')
    tx.emit('project.updated', { project_id: project.id, project: parts.engine.views.project(project) })
    return project
  })
}

function checkKey(tx: Tx, project_id: ProjectId, key: string | undefined): void {
  const whose = key === undefined ? null : tx.projects.withKey(key)
  if (whose === null || whose === project_id) return
  throw new ApiError(invalidInput('key', `Another project has the key ${key ?? ''}. Choose another.`))
}
