import { z } from 'zod'

const User = z.looseObject({ id: z.int(), username: z.string() })
const Access = z.looseObject({ access_level: z.int() }).nullish().catch(null)

export const GitlabProjectRecord = z.looseObject({
  id: z.int(),
  path_with_namespace: z.string(),
  http_url_to_repo: z.string(),
  ssh_url_to_repo: z.string().nullish().catch(null),
  /** null: it has no commit. */
  default_branch: z.string().nullish().catch(null),
  archived: z.boolean().catch(false),
  permissions: z.looseObject({ project_access: Access, group_access: Access }).nullish().catch(null),
  merge_method: z.string().catch('merge'),
  squash_option: z.string().catch('default_off'),
  only_allow_merge_if_pipeline_succeeds: z.boolean().nullish().catch(null),
  /** Not told without the paid editions. */
  merge_trains_enabled: z.boolean().nullish().catch(null),
})
export type GitlabProjectRecord = z.infer<typeof GitlabProjectRecord>

const Pipeline = z.looseObject({ id: z.int(), project_id: z.int(), sha: z.string(), status: z.string() })
export type GitlabPipeline = z.infer<typeof Pipeline>

export const GitlabPull = z.looseObject({
  iid: z.int(),
  web_url: z.string(),
  state: z.enum(['opened', 'closed', 'locked', 'merged']),
  title: z.string(),
  description: z.string().nullish(),
  author: User.nullish().catch(null),
  draft: z.boolean().nullish().catch(null),
  source_branch: z.string(),
  target_branch: z.string(),
  /** null: the fork is gone. */
  source_project_id: z.int().nullish().catch(null),
  target_project_id: z.int(),
  /** null: nothing was pushed to its branch. */
  sha: z.string().nullish(),
  merge_commit_sha: z.string().nullish().catch(null),
  squash_commit_sha: z.string().nullish().catch(null),
  merge_status: z.string().catch(''),
  detailed_merge_status: z.string().catch(''),
  has_conflicts: z.boolean().nullish().catch(null),
  squash: z.boolean().catch(false),
  merge_when_pipeline_succeeds: z.boolean().nullish().catch(null),
  /** Missing where the token can't read pipelines. */
  head_pipeline: Pipeline.nullish().catch(null),
  updated_at: z.string(),
})
export type GitlabPull = z.infer<typeof GitlabPull>

export const GitlabUser = User

export const GitlabMember = z.looseObject({ access_level: z.int() })

const Position = z.looseObject({
  head_sha: z.string().nullish(),
  new_path: z.string().nullish(),
  old_path: z.string().nullish(),
  new_line: z.int().nullish(),
  old_line: z.int().nullish(),
})

export const GitlabNote = z.looseObject({
  id: z.int(),
  body: z.string().nullish(),
  author: User.nullish().catch(null),
  created_at: z.string(),
  /** Written by GitLab itself, on what happened. */
  system: z.boolean().catch(false),
  resolvable: z.boolean().catch(false),
  resolved: z.boolean().nullish().catch(null),
  position: Position.nullish().catch(null),
})
export type GitlabNote = z.infer<typeof GitlabNote>

export const GitlabDiscussion = z.looseObject({
  id: z.string(),
  individual_note: z.boolean().catch(false),
  notes: z.array(z.unknown()),
})

export const GitlabStatus = z.looseObject({
  id: z.int(),
  name: z.string(),
  status: z.string(),
  allow_failure: z.boolean().nullish().catch(null),
  /** Of a status. */
  target_url: z.string().nullish().catch(null),
  /** Of a job. */
  web_url: z.string().nullish().catch(null),
  pipeline_id: z.int().nullish().catch(null),
})
export type GitlabStatus = z.infer<typeof GitlabStatus>

export const GitlabBranch = z.looseObject({ commit: z.looseObject({ id: z.string() }) })

export const GitlabApprovals = z.looseObject({
  approved_by: z
    .array(z.looseObject({ user: User, approved_at: z.string().nullish().catch(null) }))
    .nullish()
    .catch(null),
})

export const GitlabReviewer = z.looseObject({
  user: User,
  state: z.string(),
  created_at: z.string().nullish().catch(null),
})

export const GitlabIssue = z.looseObject({ state: z.string(), labels: z.array(z.string()).catch([]) })

export const GitlabToken = z.looseObject({
  scopes: z.array(z.string()).catch([]),
  /** A day. */
  expires_at: z.string().nullish().catch(null),
})

export const GitlabTrainCar = z.looseObject({ status: z.string() })
