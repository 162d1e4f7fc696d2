import type { Clock } from '../../../ports/clock.ts'
import { ForgeError, type ForgeSource } from '../../../ports/forges.ts'
import type { ForgeContext } from '../bound-forge.ts'
import type { ForgeApi, ForgeDialect } from '../forge-requests.ts'
import type { Recall } from '../recall.ts'
import { gitea } from './issues.ts'

export const label = 'Gitea'

/** A repository at a Gitea or Forgejo, and what asks it. */
export interface GiteaRepository {
  readonly api: ForgeApi
  readonly source: ForgeSource
  /** The API's root, without a slash at its end. */
  readonly root: string
  /** The repository's address in the API. */
  readonly url: string
  /** Tells it apart in what is recalled. */
  readonly key: string
  readonly recall: Recall
  readonly marks: Map<string, string>
  readonly clock: Clock
}

/** Throws `ForgeError` if the token isn't set. */
export function openGitea({ source, api, recall, marks, clock }: ForgeContext): GiteaRepository {
  const base = source.base_url.replace(/\/+$/, '')
  const root = base.endsWith('/api/v1') ? base : `${base}/api/v1`
  const key = `${root} ${source.owner}/${source.repo} ${source.token_secret_ref}`
  return {
    api: api(dialectOf(root.slice(0, -'/api/v1'.length))),
    source,
    root,
    url: `${root}/repos/${encodeURIComponent(source.owner)}/${encodeURIComponent(source.repo)}`,
    key,
    recall,
    marks,
    clock,
  }
}

/** `web` is the address of its pages. */
function dialectOf(web: string): ForgeDialect {
  return {
    label,
    headers: gitea.headers,
    // It asks for none.
    writeGapMs: 0,
    explain: ({ status, message }) => {
      if (status === 423) return new ForgeError('archived', 'The repository is archived. Unarchive it first.')
      const scopes = status === 403 ? /required scope\(s\)[^[]*\[([^\]]*)\]/.exec(message) : null
      if (scopes === null) return null
      const right = (scopes[1] ?? '').trim().split(/[\s,]+/)[0] ?? ''
      return new ForgeError('forbidden', `The token lacks the scope ${right}. Make a token with it.`, {
        right,
        url: `${web}/user/settings/applications`,
      })
    },
  }
}

/** Returns the address of a list below the repository, 50 items a page: a server's maximum unless it is set higher. */
export function listUrl({ url }: GiteaRepository, path: string, query: Readonly<Record<string, string>> = {}): string {
  return `${url}${path}?${new URLSearchParams({ ...query, limit: '50' }).toString()}`
}
