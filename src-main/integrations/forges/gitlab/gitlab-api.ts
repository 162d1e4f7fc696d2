import { ForgeError, type ForgeSource } from '../../../ports/forges.ts'
import type { ForgeContext } from '../bound-forge.ts'
import type { ForgeApi, ForgeDialect } from '../forge-requests.ts'
import type { Recall } from '../recall.ts'
import { gitlab } from './issues.ts'

export const label = 'GitLab'

/** A project at a GitLab, and what asks it. */
export interface GitlabProject {
  readonly api: ForgeApi
  readonly source: ForgeSource
  /** The API's root, without a slash at its end. */
  readonly root: string
  /** The project's address in the API, by its path: for reading, which a renamed project redirects. */
  readonly url: string
  /** Tells it apart in what is recalled. */
  readonly key: string
  readonly recall: Recall
}

/** Throws `ForgeError` if the token isn't set. */
export function openGitlab({ source, api, recall }: ForgeContext): GitlabProject {
  const base = source.base_url.replace(/\/+$/, '')
  const root = base.endsWith('/api/v4') ? base : `${base}/api/v4`
  const path = `${source.owner}/${source.repo}`
  return {
    api: api(dialectOf(root.slice(0, -'/api/v4'.length))),
    source,
    root,
    url: `${root}/projects/${encodeURIComponent(path)}`,
    key: `${root} ${path} ${source.token_secret_ref}`,
    recall,
  }
}

/** `web` is the address of its pages. */
function dialectOf(web: string): ForgeDialect {
  return {
    label,
    headers: gitlab.headers,
    // It asks for none.
    writeGapMs: 0,
    explain: ({ status, json }) => {
      if (status !== 403 || typeof json !== 'object' || json === null || !('scope' in json)) return null
      const right = String(json.scope).split(' ')[0] ?? ''
      return new ForgeError('forbidden', `The token lacks the scope ${right}. Create a token with it.`, {
        right,
        url: `${web}/-/user_settings/personal_access_tokens`,
      })
    },
  }
}

/** Returns the address of a list, with the most items a page. */
export function listUrl(address: string, query: Readonly<Record<string, string>> = {}): string {
  return `${address}?${new URLSearchParams({ ...query, per_page: '100' }).toString()}`
}
