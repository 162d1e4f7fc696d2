import type { Platform } from '../../../src-shared/contract/trackers.ts'
import {
  TrackerError,
  type IssuePageResponse,
  type IssueTrackers,
  type PageRequest,
} from '../../ports/issue-trackers.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { gitea } from './gitea/issues.ts'
import { github } from './github/issues.ts'
import { gitlab } from './gitlab/issues.ts'
import type { Forge } from './forge.ts'
import { readToken, sameOrigin, send, type HttpOptions } from './http.ts'
import { readLinks } from './link-header.ts'
import { nextPage } from './next-page.ts'
import { withoutToken } from './without-token.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

const forges: { readonly [P in Platform]: Forge } = { hosted: github, selfhosted: gitea, gitlab }

/** Creates what reads the issues of all kinds of forges. */
export function createIssueTrackers(options: HttpOptions): IssueTrackers {
  return { page: (request, cancellable) => askPage(options, request, cancellable) }
}

async function askPage(
  options: HttpOptions,
  request: PageRequest,
  cancellable: Cancellable,
): Promise<IssuePageResponse> {
  const token = readToken(options.env, request.source.token_secret_ref)
  const { issues, headers: authenticated } = forges[request.source.platform]
  const first = issues.firstPage(request.source, request)
  const url = request.url === null ? first : sameOrigin(request.url, first, 'The next page lies elsewhere.')
  const headers = {
    ...authenticated(token),
    ...(request.url === null && request.etag !== null && { 'if-none-match': request.etag }),
  }
  const { status, text, header, not_before, date, url: from } = await send(options, { url, headers }, cancellable)
  const facts = { not_before, date, redirected: from !== url }
  if (status === 304) return { ...facts, items: null, next_url: null, pages_total: 1, etag: request.etag }
  if (status < 200 || status > 299) throw statusError(status, not_before, options.clock.now())
  const items = withoutToken(readItems(text), token).map(issues.read)
  const links = readLinks(header('link'))
  const next = links.get('next')
  const following = links.size > 0 ? null : nextPage(url, { size_key: issues.sizeKey, items: items.length, header })
  return {
    ...facts,
    items,
    next_url: next === undefined ? following : sameOrigin(next, from, 'The next page lies elsewhere.'),
    pages_total: issues.pagesTotal({ links, header, page_size: request.page_size }),
    etag: header('etag'),
  }
}

function readItems(text: string): readonly unknown[] {
  const value = parseJson(text)
  if (!Array.isArray(value)) throw new TrackerError('bad_response', notAList)
  return value
}

const notAList = 'The tracker answered with something else than a list of issues. Check base_url and platform.'

function statusError(status: number, not_before: number | null, now: number): TrackerError {
  // GitHub uses 403 for limits too; only then do the headers name a pause.
  if (status === 429 || (status === 403 && not_before !== null)) {
    const message = "The tracker's rate limit is reached. Copse continues when it resets."
    return new TrackerError('rate_limited', message, not_before ?? now + 60_000)
  }
  const [code, message] = sentences[status] ?? [
    status >= 500 ? 'tracker_failed' : 'bad_response',
    `The tracker answered with status ${status}. Copse will retry.`,
  ]
  return new TrackerError(code, message, not_before)
}

const sentences: Readonly<Record<number, readonly [TrackerError['code'], string]>> = {
  401: ['unauthorized', 'The tracker does not accept the token. Make a new one, and set the variable to it.'],
  403: ['forbidden', "The token can't read the issues of this repository. Grant it that permission."],
  404: ['not_found', "The tracker has no such repository, or the token can't see it. Check owner and repo."],
  410: ['not_found', 'The repository no longer has issues: they are switched off, or it was deleted.'],
  451: ['forbidden', "The tracker can't show this repository."],
}
