import { defaultLanding, LandingSettings } from './landing.ts'
import { AgentLimits, defaultLimits, Limits, ModelPrice } from './limits.ts'
import { z } from 'zod'
import { effortPattern } from './effort.ts'
import { branchPrefixProblem } from './branch-names.ts'
import { executorProfiles, permissionPolicies } from './executor-profiles.ts'
import { AllowedHosts, allowedHostsText, ContainmentLevel, ExtraPaths } from './containment.ts'
import { AgentId, ProjectId, RepoId, RunnerId, Timestamp, UserId } from './ids.ts'
import { LifecycleHooks } from './lifecycle-hooks.ts'
import { PromptTemplates } from './prompts.ts'
import { hereRunner, RunnerIds } from './runners.ts'
import { WorkflowWarning } from './workflow-definition.ts'
import { shownName } from './shown-name.ts'

export const Repo = z
  .object({
    id: RepoId,
    name: z.string(),
    path: z.string().describe('Absolute path of the repository on the machine of the service.'),
    default_branch: z.string(),
    is_primary: z.boolean(),
  })
  .meta({ id: 'Repo' })
export type Repo = z.infer<typeof Repo>

/** Places where git finds a program that a repository names. */
export const repositoryRunKinds = ['filter', 'merge', 'diff', 'fsmonitor', 'hook', 'other'] as const
export type RepositoryRunKind = (typeof repositoryRunKinds)[number]

export const repoProblems = ['repository_missing', 'repository_has_no_commits', 'branch_missing'] as const

/** A repository as it is on disk now. */
export const RepoState = Repo.extend({
  problem: z
    .object({ code: z.enum(repoProblems), message: z.string().describe('What is wrong, and what to do about it.') })
    .nullable()
    .describe('Why tasks can’t work in it: `repository_missing` when it was moved or deleted.'),
}).meta({ id: 'RepoState' })
export type RepoState = z.infer<typeof RepoState>

export const Project = z
  .object({
    id: ProjectId,
    name: z.string(),
    key: z.string().describe('Two to five letters that no other project has: `SHO` in `SHO-42`.'),
    owner_id: UserId.nullable(),
    paused_at: Timestamp.nullable(),
    workflow_definition: z.string().describe('JSON; empty or {} stands for the built-in default workflow.'),
    repos: z.array(Repo),
    imports_issues: z.boolean().describe('It has an issue tracker, also one that is switched off.'),
    created_at: Timestamp,
    updated_at: Timestamp,
    warnings: z
      .array(WorkflowWarning)
      .optional()
      .describe('In the answer to a change of the workflow: keys of it that do nothing.'),
  })
  .meta({ id: 'Project' })
export type Project = z.infer<typeof Project>

/** The fields of a project that clients set, except fields that its change handles separately. */
export const ProjectFields = z.object({
  name: shownName().min(1).max(100),
  key: z
    .string()
    .trim()
    .toUpperCase()
    .regex(/^[A-Z]{2,5}$/, 'Two to five letters, like `SHO`.')
    .describe('Two to five letters that no other project has, which its tasks are called by: `SHO-42`.'),
})

/** The fields of a repository that clients set. */
export const RepoFields = z.object({
  path: z.string().min(1).max(4_096).describe('A folder of the repository on the machine of the service.'),
  name: shownName().min(1).max(100),
  default_branch: z.string().min(1).max(250).describe('What new tasks start from and merge into.'),
  is_primary: z.boolean().describe('Tasks that name no repository work in the primary one; a project has one.'),
})

export const ReviewConfig = z.object({
  ci_steps: z.array(z.string().min(1)).max(100).default([]),
  review_prompt: z.string().nullable().default(null),
})
export type ReviewConfig = z.infer<typeof ReviewConfig>

/** When merges are signed. */
export const signModes = ['never', 'try', 'require'] as const

/** Who tells a task's changes as chapters. */
const chapterTellers = ['rules', 'coder', 'reviewer'] as const

/** A path or glob as in `.gitignore`. */
const RiskyPath = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^!#[\]{}\\]*$/, 'Use `*`, `**` and `?`. Other patterns are not known here.')

export const ProjectSettings = z
  .object({
    lifecycle_hooks: LifecycleHooks,
    default_review_config: ReviewConfig,
    redaction_patterns: z.array(z.string().min(1)).max(100),
    merge_strategy: z.enum(['merge', 'squash', 'rebase']),
    sign_merges: z
      .enum(signModes)
      .describe(
        'Whether merges are signed, with the program and key that the user’s git configuration names (`gpg.*`, ' +
          '`user.signingKey`). No question is asked: a locked key fails. `try`: such a merge is unsigned and says so. ' +
          '`require`: it fails. With a rebase, each of its commits is signed.',
      ),
    landing: LandingSettings,
    tell_agents_of_overlaps: z
      .boolean()
      .describe('Running agents get one message about each other task whose changes would conflict with theirs.'),
    branch_prefix: z.string().max(60),
    setup_commands: z.array(z.string().min(1)).max(50),
    copy_files: z.array(z.string().min(1)).max(200),
    max_concurrent_executions: z.int().min(1).max(100),
    execution_timeout_seconds: z.int().min(1).nullable(),
    ci_step_timeout_seconds: z.int().min(1).max(86_400),
    stall_after_seconds: z
      .int()
      .min(1)
      .max(86_400)
      .describe('After so long without a sign of an agent its task says so. Nothing is ended.'),
    stall_seconds: z
      .int()
      .min(1)
      .max(86_400)
      .nullable()
      .describe(
        'After so long without a sign of an agent (output, a file, a word of it) its run is ended and tried again. ' +
          'Waiting for a person is no stall. null: never.',
      ),
    stall_retries: z.int().min(0).max(10).describe('How often a run that was stalled is tried again.'),
    limits: Limits.describe('What agents may use; at a limit a run ends after its current turn, with its work kept.'),
    prices: z
      .record(z.string().min(1).max(200), ModelPrice)
      .describe('What models cost, for agents that name no cost. They come before the built-in list.'),
    knowledge: z.object({
      enabled: z.boolean(),
      from_others: z
        .boolean()
        .optional()
        .describe(
          'Records of finished tasks also reach the tasks of other people. Entries that someone wrote always do.',
        ),
    }),
    nested_repositories: z
      .enum(['auto', 'absorb', 'hold'])
      .describe(
        'What becomes of a repository inside a worktree when the work is submitted. `absorb`: its files are plain files ' +
          'of the work, its history is kept as a rescue. `hold`: a person decides. `auto`: absorb one without a remote.',
      ),
    ci_containment: ContainmentLevel.describe(
      'What the system lets checks, hooks and setup commands do: as `containment` of an agent.',
    ),
    allowed_hosts: AllowedHosts.describe(
      `Further hosts that these reach under \`worktree_and_hosts\`. ${allowedHostsText}`,
    ),
    extra_paths: ExtraPaths.describe(
      'What they may read or write besides when contained; never the data folder, nor what holds it.',
    ),
    chapters: z
      .enum(chapterTellers)
      .describe(
        'Who divides a task’s changes into chapters. `rules`: Copse alone. `coder`, `reviewer`: that role is asked too, and ' +
          'its words are shown while its work stays as it is.',
      ),
    risky_paths: z
      .array(RiskyPath)
      .max(100)
      .describe(
        'Paths and globs as in `.gitignore`, with `*`, `**` and `?`; changes there are shown as risks and never folded.',
      ),
    runner_ids: RunnerIds.describe('Where agents run that name no runners: the first that is ready and has room.'),
    ci_runner: RunnerId.nullable().describe(
      'Where checks, hooks and the steps of landing run; null: where the worktree is.',
    ),
    prompt_templates: PromptTemplates.describe(
      'What agents are told beside the task, by role; a role without one has the built-in template.',
    ),
  })
  .meta({ id: 'ProjectSettings' })
export type ProjectSettings = z.infer<typeof ProjectSettings>

const BranchPrefix = z
  .string()
  .max(60)
  .superRefine((prefix, context) => {
    const message = branchPrefixProblem(prefix)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })

/** A path or glob below the repository's root. Symlinks are checked when files are copied. */
const CopiedPath = z
  .string()
  .min(1)
  .superRefine((path, context) => {
    const parts = path.split('/')
    const isAbsolute = path.startsWith('/') || path.startsWith('~') || /^[a-z]:/i.test(path)
    const message =
      isAbsolute || parts.includes('..')
        ? 'Use a path relative to the repository’s root, without “..”.'
        : parts.some((part) => part.toLowerCase() === '.git')
          ? 'What lies in .git belongs to the repository; it can’t be copied.'
          : null
    if (message !== null) context.addIssue({ code: 'custom', message })
  })

/** The settings that a change may contain; any other key is refused. */
export const ProjectSettingsPatch = z.strictObject({
  ...ProjectSettings.partial().shape,
  default_review_config: z.strictObject(ReviewConfig.shape).optional(),
  branch_prefix: BranchPrefix.optional(),
  setup_commands: z.array(z.string().regex(/\S/, 'An empty command does nothing. Leave it out.')).max(50).optional(),
  copy_files: z.array(CopiedPath).max(200).optional(),
  knowledge: z.strictObject(ProjectSettings.shape.knowledge.shape).optional(),
})

export const defaultProjectSettings: ProjectSettings = {
  lifecycle_hooks: {},
  default_review_config: { ci_steps: [], review_prompt: null },
  redaction_patterns: [],
  merge_strategy: 'merge',
  sign_merges: 'never',
  landing: defaultLanding,
  tell_agents_of_overlaps: false,
  branch_prefix: 'svc/',
  setup_commands: [],
  copy_files: [],
  max_concurrent_executions: 4,
  execution_timeout_seconds: null,
  ci_step_timeout_seconds: 1_800,
  stall_after_seconds: 600,
  stall_seconds: null,
  stall_retries: 2,
  limits: defaultLimits,
  prices: {},
  knowledge: { enabled: true },
  nested_repositories: 'auto',
  ci_containment: 'none',
  allowed_hosts: [],
  extra_paths: {},
  chapters: 'rules',
  risky_paths: [],
  runner_ids: [hereRunner],
  ci_runner: null,
  prompt_templates: {},
}

export const Effort = z
  .string()
  .regex(effortPattern, 'One word, like `low`, `medium` or `high`.')
  .describe('How hard it thinks, in the agent’s own words, like `high`.')

export const AgentConfig = z.object({
  command: z
    .string()
    .optional()
    .describe('The command line of `command` and `acp`; for other profiles, the path of their binary.'),
  model: z.string().optional(),
  effort: Effort.optional(),
  args: z.array(z.string()).max(100).optional(),
  env: z.record(z.string(), z.string()).optional(),
  terminal: z
    .boolean()
    .optional()
    .describe(
      'Of `command`: it runs in a terminal, with which people can work while it runs. Its prompt is in the file that ' +
        '`SVC_PROMPT_FILE` names.',
    ),
  permissions: z
    .enum(permissionPolicies)
    .optional()
    .describe(
      'What it may do without asking; people are asked about the rest. `all` (when absent): everything. `worktree`: read, ' +
        'search and edit in its worktree. `ask`: read and search there. Our own tools are always allowed. An agent ' +
        'that can’t ask is `all` only; `validation_failed` says so.',
    ),
  limits: AgentLimits.optional().describe('What it may use in a day, in all projects together.'),
  account: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Which account of its provider it uses. Agents with the same one wait together when its usage limit is reached. ' +
        'Without it, agents of one type with the same credential folder and keys are one account.',
    ),
  containment: ContainmentLevel.optional(),
  allowed_hosts: AllowedHosts.optional().describe(
    `Further hosts that it reaches under \`worktree_and_hosts\`. ${allowedHostsText}`,
  ),
  extra_paths: ExtraPaths.optional().describe(
    'What a contained run may read or write besides; never the data folder, nor what holds it.',
  ),
  runner_ids: RunnerIds.optional().describe(
    'Where it runs: the first of these that is ready and has room. By default as the project says.',
  ),
})
export type AgentConfig = z.infer<typeof AgentConfig>

/** The fields of an agent that clients set, shared by its creation and its change. */
export const AgentFields = z.object({ name: shownName().min(1).max(100), config: AgentConfig })

export const Agent = z
  .object({
    id: AgentId,
    name: z.string(),
    owner_id: UserId.nullable(),
    daemon_id: z.string().nullable(),
    executor: z.enum(executorProfiles),
    config: AgentConfig,
    paused: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'Agent' })
export type Agent = z.infer<typeof Agent>

/** An agent program found on this machine, by executor profile. */
export const DetectedAgent = z
  .object({
    executor: z.enum(executorProfiles),
    name: z.string(),
    installed: z.boolean(),
    path: z.string().nullable(),
    version: z.string().nullable(),
    signed_in: z.boolean().nullable().describe('As far as it can be known without asking its service; else null.'),
    hint: z.string().nullable().describe('What to do when it is not installed, or not signed in.'),
  })
  .meta({ id: 'DetectedAgent' })
export type DetectedAgent = z.infer<typeof DetectedAgent>

/** Whether an agent can work with its configuration. */
export const AgentSignIn = DetectedAgent.extend({ agent_id: AgentId }).meta({ id: 'AgentSignIn' })
export type AgentSignIn = z.infer<typeof AgentSignIn>
