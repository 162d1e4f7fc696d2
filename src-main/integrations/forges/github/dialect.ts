import { z } from 'zod'
import { trackerInfos } from '../../../../src-shared/contract/trackers.ts'
import { ForgeError, type ForgeSource } from '../../../ports/forges.ts'
import type { ForgeAnswer, ForgeDialect } from '../forge-requests.ts'
import { acceptedPermissions, acceptedScopes } from './rights.ts'

export const label = trackerInfos.hosted.label

export const authenticated = (token: string) => ({
  accept: 'application/vnd.github+json',
  authorization: `Bearer ${token}`,
  'x-github-api-version': '2022-11-28',
})

/** GitHub and GitHub Enterprise, as https://docs.github.com/en/rest/using-the-rest-api describes them. */
export function githubDialect(source: Pick<ForgeSource, 'base_url'>): ForgeDialect {
  return {
    label,
    headers: authenticated,
    writeGapMs: 1_000,
    explain: (answer) => explain(webUrl(source), answer),
  }
}

export const apiUrl = ({ base_url }: Pick<ForgeSource, 'base_url'>) => base_url.replace(/\/+$/, '')

/** GraphQL lies beside the REST API, at an own server below another path. */
export function graphqlUrl(source: Pick<ForgeSource, 'base_url'>): string {
  return `${apiUrl(source).replace(/\/v3$/, '')}/graphql`
}

/** Returns the address of a forge's pages. */
export function webUrl(source: Pick<ForgeSource, 'base_url'>): string {
  const base = apiUrl(source)
  if (base.endsWith(trackerInfos.hosted.apiPath)) return base.slice(0, -trackerInfos.hosted.apiPath.length)
  const url = new URL(base)
  // Also that of an enterprise with its data in its own region: api.octo.ghe.com.
  return `${url.protocol}//${url.host.replace(/^api\./, '')}`
}

type Failure = ForgeAnswer & { readonly message: string }

function explain(web: string, answer: Failure): ForgeError | null {
  const { status, header, message } = answer
  if (status === 422) return unprocessable(answer)
  if (status === 404) return hidden(web, answer)
  if (status !== 403 || /rate limit|abuse/i.test(message)) return null
  if (/archived so is read-only/i.test(message)) {
    return new ForgeError('archived', `${label} has the repository archived, so nothing in it can be changed.`)
  }
  const sso = ssoUrl(header('x-github-sso'))
  if (sso !== null) {
    const sentence = `The organization at ${label} wants the token to be authorized for single sign-on. Authorize it there.`
    return new ForgeError('forbidden', sentence, { right: 'single sign-on', url: sso })
  }
  if (/already running|cannot be re-?(run|tried)|unable to re-?(run|try)/i.test(message)) {
    return new ForgeError('refused', `${label} can't run the job again. It says: ${message}`)
  }
  return lacking(web, answer)
}

/** Returns the error of a refused request; which right it lacks is named in headers. */
function lacking(web: string, { header, message }: Failure): ForgeError {
  const isClassic = header('x-oauth-scopes') !== null
  const right = isClassic
    ? acceptedScopes(header('x-accepted-oauth-scopes'))
    : acceptedPermissions(header('x-accepted-github-permissions'))
  const said = message === '' ? '' : ` It says: ${message}`
  return new ForgeError('forbidden', `${label} doesn't allow this with the token.${said}`, {
    ...(right !== null && { right }),
    url: tokenUrl(web, isClassic),
  })
}

export const tokenUrl = (web: string, isClassic: boolean) =>
  `${web}/settings/${isClassic ? 'tokens' : 'personal-access-tokens'}`

/** A private repository is answered as missing to a classic token without a scope for it. */
function hidden(web: string, answer: Failure): ForgeError | null {
  const scopes = answer.header('x-oauth-scopes')
  if (scopes === null) return null
  const granted = scopes.split(',').map((scope) => scope.trim())
  return granted.includes('repo') || granted.includes('public_repo') ? null : lacking(web, answer)
}

/** Returns the address that `required; url=…` names, if it is one of a page. */
export function ssoUrl(value: string | null): string | null {
  const found = /^\s*required\s*;\s*url=(\S+)/i.exec(value ?? '')?.[1]
  const url = found === undefined ? null : URL.parse(found)
  return url?.protocol === 'https:' ? url.href : null
}

const Errors = z.object({
  errors: z
    .array(
      z.union([
        z.string(),
        z.looseObject({
          message: z.string().nullish().catch(null),
          field: z.string().nullish().catch(null),
          code: z.string().nullish().catch(null),
        }),
      ]),
    )
    .catch([]),
})

/** The message says only that it failed; what is wrong stands beside it. */
function unprocessable({ json, message }: Failure): ForgeError {
  const { errors } = Errors.safeParse(json).data ?? { errors: [] }
  const details = errors.map((error) =>
    typeof error === 'string' ? error : (error.message ?? [error.field, error.code].filter(Boolean).join(' ')),
  )
  const said = [message, ...details]
    .filter((text) => text !== '')
    .join(': ')
    .slice(0, 500)
  if (/draft pull requests are not supported/i.test(said)) {
    return new ForgeError('not_supported', `${label} has no drafts in this repository. Open it without “draft”.`)
  }
  return new ForgeError(
    'refused',
    `${label} refused${said === '' ? ' without a reason' : `: ${said.replace(/\.$/, '')}`}.`,
  )
}
