import type { ForgeSource } from '../../src-main/ports/forges.ts'
import type { ForgeGit } from '../fakes/forges/forge-git.ts'
import type { ForgeServer, Mount } from '../fakes/forges/forge-server.ts'
import { startGitea } from '../fakes/forges/gitea.ts'
import { startGithub } from '../fakes/forges/github.ts'
import { startGitlab } from '../fakes/forges/gitlab.ts'
import { fineGrained } from './github-forge.ts'

export const forgeKinds = [
  'Gitea 1.26',
  'Forgejo 13',
  'GitHub with a fine-grained token',
  'GitHub Enterprise',
  'GitLab',
] as const
export type ForgeKind = (typeof forgeKinds)[number]

/** What a test does at a scripted forge of any kind, with one repository. */
export interface AnyForge extends AsyncDisposable {
  readonly server: ForgeServer
  readonly platform: ForgeSource['platform']
  readonly base_url: string
  readonly token: string
  /** The end of a check of a commit. */
  report(commit: string, name: string, passed: boolean): Promise<void>
  /** A workflow of the forge's own CI has run for the head of a pull request, with one job that passed. */
  runWorkflow(number: number, name: string): Promise<void>
  /** Merges into `main` need an approval from now on. */
  requireApproval(): void
  /** How often it answered that what was asked for has not changed; null where its API has no ETags. */
  notModified(): number | null
  /** `rita`, who may write there, comments on a line of the pull request. Returns the ID of the thread. */
  comment(number: number, at: { readonly path: string; readonly line: number }, body: string): Promise<string>
  /** The pull requests there, with all that was written in their threads. */
  pulls(): readonly { readonly number: number; readonly state: string; readonly words: readonly string[] }[]
}

interface Parts {
  readonly git: ForgeGit
  readonly mount: Mount
}

/** Starts a scripted forge of a kind with a repository, over real git. */
export async function startAnyForge(kind: ForgeKind, repository: string, parts: Parts): Promise<AnyForge> {
  if (kind === 'GitLab') return await gitlab(repository, parts)
  if (kind === 'Gitea 1.26' || kind === 'Forgejo 13') return await gitea(kind, repository, parts)
  return await github(kind, repository, parts)
}

async function gitea(kind: ForgeKind, name: string, parts: Parts): Promise<AnyForge> {
  const server = await startGitea({ ...parts, ...(kind === 'Forgejo 13' && { version: '13.0.2+gitea-1.22.0' }) })
  const repository = server.repository(name)
  return {
    server,
    platform: 'selfhosted',
    base_url: server.url,
    token: server.token,
    report: (commit, context, passed) => server.people.status(name, commit, context, passed ? 'success' : 'failure'),
    runWorkflow: async (number, job) => {
      const { commit } = server.people.pull(name, number).pull
      await server.people.job(name, commit, job, { status: 'success', description: 'Successful in 5s' })
    },
    requireApproval: () => void repository.protections.set('main', { contexts: null, approvals: 1 }),
    notModified: () => null,
    comment: async (number, at, body) => String(server.people.commentOnLine(name, number, 'rita', { ...at, body }).id),
    pulls: () =>
      repository.issues.flatMap(({ number, state, pull }) => {
        if (pull === null) return []
        const words = pull.codeComments.map(({ body }) => body)
        return [{ number, state: pull.merged === null ? state : 'merged', words }]
      }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

async function github(kind: ForgeKind, name: string, parts: Parts): Promise<AnyForge> {
  const server = await startGithub({ ...parts, isEnterprise: kind === 'GitHub Enterprise' })
  const repository = server.addRepository(name)
  const token = 'ghp_AnyForgeTokenThatIsNeverShown'
  server.addToken(token, 'octo', kind === 'GitHub Enterprise' ? {} : fineGrained)
  server.addMember(repository, 'rita', 'write')
  // Without a required check nothing is merged for a token that doesn't see all of them.
  const required = [{ context: 'ci/build', app_id: null }]
  if (kind !== 'GitHub Enterprise') server.protect(repository, 'main', { classic: required })
  return {
    server,
    platform: 'hosted',
    base_url: server.api,
    token,
    report: (commit, context, passed) =>
      server.people.reportStatus(repository, commit, context, passed ? 'success' : 'failure'),
    runWorkflow: async (number, workflow) => {
      const head = server.pull(repository, number).commit
      for (const run of server.people.startWorkflow(repository, head, [`${workflow} job`], { name: workflow }))
        await server.people.finish(run, 'success')
    },
    requireApproval: () => server.protect(repository, 'main', { classic: required, approvals: 1 }),
    notModified: () => server.counts.notModified,
    comment: async (number, at, body) =>
      server.people.commentOnLine(server.pull(repository, number), 'rita', at, body).node_id,
    pulls: () =>
      [...repository.pulls.values()].map(({ number, state, merged, threads }) => ({
        number,
        state: merged ? 'merged' : state,
        words: threads.flatMap(({ comments }) => comments.map(({ body }) => body)),
      })),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

async function gitlab(name: string, parts: Parts): Promise<AnyForge> {
  const server = await startGitlab(parts)
  const project = server.project(name)
  project.members.set('rita', 30)
  return {
    server,
    platform: 'gitlab',
    base_url: server.url,
    token: server.token,
    report: async (commit, context, passed) =>
      server.people.status(name, commit, context, passed ? 'success' : 'failed'),
    runWorkflow: async (number, job) => {
      await server.people.job(name, await server.people.pipeline(name, number), job, 'success')
    },
    requireApproval: () => void (project.approvalsRequired = 1),
    notModified: () => server.state.notModified,
    comment: async (number, { path, line }, body) => {
      const at = { new_path: path, old_path: path, new_line: line }
      return (await server.people.thread(name, number, 'rita', body, at)).id
    },
    pulls: () =>
      project.mergeRequests.map(({ iid, state, discussions }) => ({
        number: iid,
        state,
        words: discussions.flatMap(({ isSingle, notes }) => (isSingle ? [] : notes.map(({ body }) => body))),
      })),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/**
 * What an agent does in each run: it writes another line, and answers the threads that wait for an answer as it is told
 * to, over the API.
 */
export const answeringAgent = `echo bonjour >> greeting.txt; node -e '
  const at = process.env.SVC_API_URL + "/api/v1/tasks/" + process.env.SVC_TASK_ID + "/pull_request"
  const headers = { authorization: "Bearer " + process.env.SVC_API_TOKEN, "content-type": "application/json" }
  const answer = async () => {
    const response = await fetch(at, { headers })
    if (response.status === 404) return
    for (const { id, comments } of (await response.json()).threads) {
      if (comments.some(({ ours }) => ours)) continue
      const body = JSON.stringify({ body: "Said twice now." })
      await fetch(at + "/threads/" + encodeURIComponent(id) + "/reply", { method: "POST", headers, body })
    }
  }
  answer()
'`
