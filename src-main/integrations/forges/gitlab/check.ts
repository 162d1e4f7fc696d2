import type { TokenRight } from '../../../../src-shared/contract/pull-requests.ts'
import type { TokenCheck } from '../../../ports/forges.ts'
import { parseAnswer } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { label, type GitlabProject } from './gitlab-api.ts'
import { accessOf, developer } from './project.ts'
import { GitlabProjectRecord, GitlabToken } from './shapes.ts'

/** Finds out what the token may do; GitLab tells its scopes. */
export async function checkToken(project: GitlabProject): Promise<TokenCheck> {
  const { api, url, root } = project
  const self = { url: `${root}/personal_access_tokens/self` }
  // Other kinds of tokens, and versions before 15.5, don't tell.
  const answer = await unlessRefused(['forbidden', 'not_found', 'refused'], () => api.send(self))
  const token = answer && parseAnswer(GitlabToken, answer.json, label)
  const record = parseAnswer(GitlabProjectRecord, (await api.send({ url })).json, label)
  const hasApi = token === null ? null : token.scopes.includes('api')
  const access = accessOf(record)
  const isDeveloper = access === null ? null : access >= developer
  const pipelines = { url: `${url}/pipelines?per_page=1` }
  const seesPipelines = (await unlessRefused(['forbidden', 'not_found'], () => api.send(pipelines))) !== null
  const writes = hasApi === false ? false : true
  return {
    can: {
      checks: seesPipelines ? 'all' : 'none',
      logs: seesPipelines,
      rerun: seesPipelines && writes && isDeveloper !== false,
      reply: writes,
      resolve: writes && isDeveloper !== false,
      draft: writes,
      auto_merge: writes && isDeveloper !== false,
      queue: record.merge_trains_enabled === true,
    },
    rights: [
      right('api (Preferences, Access tokens)', 'Everything but reading, and pushing over HTTP', hasApi),
      right('Developer role in the project', 'Pushing, merging and resolving threads', isDeveloper),
      right('Access to pipelines', 'Checks and their logs', seesPipelines),
    ],
    token_expires_at: dayOf(token?.expires_at ?? null),
  }
}

const right = (name: string, needed_for: string, has: boolean | null): TokenRight => ({
  right: name,
  needed_for,
  state: has === null ? 'unknown' : has ? 'ok' : 'missing',
})

/** A token ends at the begin of its last day, in UTC. */
function dayOf(day: string | null): string | null {
  const moment = day === null ? NaN : Date.parse(day)
  return Number.isNaN(moment) ? null : new Date(moment).toISOString()
}
