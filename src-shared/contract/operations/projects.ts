import { z } from 'zod'
import { ProjectId, Timestamp, UserId } from '../ids.ts'
import { get, post, patch, del, list } from '../operation.ts'
import {
  Agent,
  Project,
  ProjectSettings,
  ProjectSettingsPatch,
  repositoryRunKinds,
  ProjectFields,
} from '../projects.ts'
import { SystemInfo } from '../system.ts'
import { Task } from '../tasks.ts'
import { WorkflowDefinition } from '../workflow-definition.ts'
import { DryRun, TemplateName } from '../workflow-templates.ts'

export const projectsOperations = {
  'system.get': get(
    '/system',
    'anyone',
    'What this installation is: for the first screen and for diagnosis.',
    z.object({}),
    SystemInfo,
  ),
  'system.inspect_folder': post(
    '/system/inspect_folder',
    'human',
    'Whether a folder can become a project, and its branches.',
    z.object({ path: z.string().min(1).max(4_096) }),
    z.object({
      path: z.string(),
      name: z.string(),
      default_branch: z.string(),
      branches: z.array(z.string()),
      runs: z
        .array(z.object({ kind: z.enum(repositoryRunKinds), what: z.string() }))
        .describe('What the repository’s own configuration and hooks would make git run.'),
    }),
    200,
    ['not_a_git_repository', 'repository_has_no_commits'],
  ),
  'system.nearby_repositories': get(
    '/system/nearby_repositories',
    'admin',
    'Git repositories in the usual places below the home folder of the service that are no project yet, those worked in last first.',
    z.object({}),
    list(z.object({ path: z.string(), name: z.string(), changed_at: Timestamp })),
  ),
  'demo.create': post(
    '/demo',
    'human',
    'Create a small repository with a project, a scripted agent and five tasks: one is merged (`task`), one conflicts with it, one waits for review with a line to comment on, one asks a question, one runs for two minutes. Answers when they are there.',
    z.object({}),
    z.object({
      project: Project,
      agent: Agent,
      task: Task,
      tasks: z.object({ merged: Task, conflict: Task, review: Task, question: Task, running: Task }),
    }),
    201,
  ),
  'projects.list': get('/projects', 'anyone', 'The caller’s projects.', z.object({}), list(Project)),
  'projects.create': post(
    '/projects',
    'human',
    'Make a project of a git repository on this machine.',
    z.object({
      ...ProjectFields.partial({ key: true }).shape,
      repo_path: z.string().min(1).max(4_096),
      default_branch: z.string().min(1).max(250).optional(),
      workflow_template: TemplateName.optional().describe('Snapshotted into the project; the default without it.'),
    }),
    Project,
    201,
    ['not_a_git_repository', 'repository_has_no_commits', 'workflow_invalid'],
  ),
  'projects.get': get('/projects/{project_id}', 'member', 'One project.', z.object({ project_id: ProjectId }), Project),
  'projects.update': patch(
    '/projects/{project_id}',
    'owner',
    'Rename, pause, resume or hand over a project, change its key, or replace its workflow.',
    z.object({
      project_id: ProjectId,
      ...ProjectFields.partial().shape,
      paused_at: z.iso.datetime().nullable().optional(),
      owner_id: UserId.nullable()
        .optional()
        .describe('Whose it is; they become an owner of it. null, by an admin, makes it a system project.'),
      workflow_definition: z.string().max(1_000_000).optional(),
    }),
    Project,
    ['admin_required', 'workflow_invalid', 'states_in_use', 'transition_in_use'],
  ),
  'projects.delete': del(
    '/projects/{project_id}',
    'owner',
    'Delete a project. It and everything in it disappears immediately; its rows, and with `delete_branches` its worktrees and branches, are removed in the background. The repository is otherwise left as it is.',
    z.object({
      project_id: ProjectId,
      delete_branches: z
        .boolean()
        .optional()
        .describe('Also remove the worktrees and task branches that the service made.'),
    }),
    ['project_busy'],
  ),
  'projects.get_settings': get(
    '/projects/{project_id}/settings',
    'member_human',
    'A project’s settings.',
    z.object({ project_id: ProjectId }),
    ProjectSettings,
  ),
  'projects.update_settings': patch(
    '/projects/{project_id}/settings',
    'owner',
    'Replace the settings that are named.',
    ProjectSettingsPatch.extend({ project_id: ProjectId }),
    ProjectSettings,
  ),
  'projects.get_workflow': get(
    '/projects/{project_id}/workflow',
    'member',
    'The workflow in force, resolved.',
    z.object({ project_id: ProjectId }),
    WorkflowDefinition,
  ),
  'projects.dry_run': post(
    '/projects/{project_id}/workflow/dry_run',
    'member',
    'Walk a pretend task through a workflow: the one in force, or the definition given.',
    z.object({ project_id: ProjectId, definition: z.record(z.string(), z.unknown()).optional() }),
    DryRun,
    200,
    ['workflow_invalid'],
  ),
} as const
