import { detailedStatus, headPipeline, isDraft, pipelineStatus } from './mergeability.ts'
import { accessOf, userOf, type Discussion, type ExternalStatus, type Job, type MergeRequest } from './state.ts'
import type { Note, Noteable, Project, State } from './state.ts'

/** What records look like in its answers. */

export const showUser = (state: State, username: string) => {
  const { id } = userOf(state, username)
  return { id, username, name: username, state: 'active' }
}

export function showProject(url: string, project: Project, username: string) {
  const access = accessOf(project, username)
  return {
    id: project.id,
    path_with_namespace: project.path,
    web_url: `${url}/${project.path}`,
    http_url_to_repo: `${url}/${project.path}.git`,
    ssh_url_to_repo: `git@127.0.0.1:${project.path}.git`,
    default_branch: 'main',
    archived: project.archived,
    permissions: {
      project_access: access > 0 ? { access_level: access, notification_level: 3 } : null,
      group_access: null,
    },
    merge_method: project.mergeMethod,
    squash_option: project.squashOption,
    only_allow_merge_if_pipeline_succeeds: project.mustSucceed,
    ...(project.trains !== null && { merge_trains_enabled: project.trains }),
  }
}

export async function showMergeRequest(
  {
    url,
    state,
    project,
    username,
  }: { readonly url: string; readonly state: State; readonly project: Project; readonly username: string },
  pull: MergeRequest,
) {
  const pipeline = headPipeline(state, pull)
  return {
    id: 10_000 + pull.iid,
    iid: pull.iid,
    project_id: project.id,
    web_url: `${url}/${project.path}/-/merge_requests/${pull.iid}`,
    title: pull.title,
    description: pull.description,
    state: pull.state,
    author: showUser(state, pull.user),
    draft: isDraft(pull.title),
    work_in_progress: isDraft(pull.title),
    source_branch: pull.source.branch,
    target_branch: pull.target,
    source_project_id: state.projects.some(({ id }) => id === pull.source.project) ? pull.source.project : null,
    target_project_id: project.id,
    labels: [...pull.labels],
    sha: pull.sha,
    merge_commit_sha: pull.mergeCommit,
    squash_commit_sha: pull.squashCommit,
    merge_status: pull.status === 'preparing' ? 'preparing' : pull.status,
    detailed_merge_status: await detailedStatus(state, project, pull),
    has_conflicts: pull.status === 'cannot_be_merged',
    squash: pull.squash,
    merge_when_pipeline_succeeds: pull.autoMerge,
    reviewers: [...pull.reviewers.keys()].map((each) => showUser(state, each)),
    updated_at: pull.updated_at,
    // Missing for those who may not see pipelines.
    ...(accessOf(project, username) >= 20 && {
      head_pipeline: pipeline && {
        id: pipeline.id,
        project_id: pipeline.project,
        sha: pipeline.sha,
        status: pipelineStatus(state, pipeline),
        source: 'merge_request_event',
      },
    }),
  }
}

export const showIssue = (url: string, project: Project, state: State, issue: Noteable) => ({
  id: 20_000 + issue.iid,
  iid: issue.iid,
  project_id: project.id,
  title: issue.title,
  description: issue.description,
  state: issue.state,
  labels: [...issue.labels],
  author: showUser(state, issue.user),
  web_url: `${url}/${project.path}/-/issues/${issue.iid}`,
})

export const showNote = (state: State, note: Note) => ({
  id: note.id,
  type: note.position ? 'DiffNote' : note.resolvable ? 'DiscussionNote' : null,
  body: note.body,
  author: showUser(state, note.user),
  created_at: note.created_at,
  system: note.system,
  resolvable: note.resolvable,
  ...(note.resolvable && { resolved: note.resolved }),
  ...(note.position && { position: { ...note.position, position_type: 'text', base_sha: '', start_sha: '' } }),
})

export const showDiscussion = (state: State, { id, isSingle, notes }: Discussion) => ({
  id,
  individual_note: isSingle,
  notes: notes.map((note) => showNote(state, note)),
})

export const showJob = (url: string, project: Project, job: Job) => ({
  id: job.id,
  name: job.name,
  status: job.status,
  stage: 'test',
  allow_failure: job.allowFailure,
  web_url: `${url}/${project.path}/-/jobs/${job.id}`,
  pipeline: { id: job.pipeline },
})

export const showJobStatus = (url: string, project: Project, sha: string, job: Job) => ({
  id: job.id,
  sha,
  name: job.name,
  status: job.status,
  allow_failure: job.allowFailure,
  target_url: `${url}/${project.path}/-/jobs/${job.id}`,
  pipeline_id: job.pipeline,
})

export const showStatus = ({ id, sha, name, status, targetUrl, pipeline }: ExternalStatus) => ({
  id,
  sha,
  name,
  status,
  allow_failure: false,
  target_url: targetUrl,
  pipeline_id: pipeline,
})
