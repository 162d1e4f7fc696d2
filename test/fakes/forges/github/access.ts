import type { ForgeReply, ForgeRequestSeen } from '../forge-server.ts'
import { failure, type Need } from './exchange.ts'
import type { FakeRepository, FakeToken, Level } from './state.ts'
import type { World } from './world.ts'

export function tokenOf({ tokens }: World, { headers }: ForgeRequestSeen): FakeToken | null {
  const [, secret = ''] = /^(?:bearer|token) (\S+)$/i.exec(String(headers['authorization'] ?? '')) ?? []
  const token = tokens.get(secret)
  return token && !token.revoked ? token : null
}

/** Headers that every answer to a token has. */
export function tokenHeaders({ scopes, expires }: FakeToken, accepted: string): Record<string, string> {
  return {
    ...(scopes !== null && { 'x-oauth-scopes': scopes.join(', '), 'x-accepted-oauth-scopes': accepted }),
    ...(expires !== null && { 'github-authentication-token-expiration': expires }),
  }
}

export const badCredentials = () => failure(401, 'Bad credentials')

/** Whether a token's account, and the token, see a repository at all. */
export function sees({ login, scopes, repositories }: FakeToken, repository: FakeRepository): boolean {
  if (!repository.private) return true
  if (!repository.roles.has(login)) return false
  if (scopes !== null) return scopes.includes('repo')
  return repositories === null || repositories.includes(repository.full_name)
}

const reaches = (granted: Level | undefined, level: Level) => granted === 'write' || granted === level

/** Returns the refusal of a request, or null. */
export function refusal(
  token: FakeToken,
  repository: FakeRepository,
  { method, needs }: { readonly method: string; readonly needs: readonly Need[] },
): ForgeReply | null {
  if (token.sso !== null) {
    const answer = failure(
      403,
      'Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.',
    )
    return { ...answer, headers: { 'x-github-sso': `required; url=${token.sso}` } }
  }
  const isRead = method === 'GET'
  if (repository.archived && !isRead) return failure(403, 'Repository was archived so is read-only.')
  if (token.scopes !== null) return refuseClassic(token.scopes, token.login, repository, isRead, needs)
  // A public repository is read without any permission, except for what fine-grained tokens can't be given.
  const isGranted = needs.some(({ permission, level }) => reaches(token.permissions[permission], level))
  if (isGranted || (isRead && !repository.private)) return null
  const accepted = needs.map(({ permission, level }) => `${permission}=${level}`).join('; ')
  const answer = failure(403, 'Resource not accessible by personal access token')
  return { ...answer, headers: { 'x-accepted-github-permissions': accepted } }
}

function refuseClassic(
  scopes: readonly string[],
  login: string,
  repository: FakeRepository,
  isRead: boolean,
  needs: readonly Need[],
): ForgeReply | null {
  if (isRead) return null
  if (!scopes.includes('repo') && !(scopes.includes('public_repo') && !repository.private))
    return failure(404, 'Not Found')
  const role = repository.roles.get(login) ?? 'read'
  const isForWriters = needs.some(
    ({ permission, level }) => level === 'write' && ['contents', 'actions'].includes(permission),
  )
  return isForWriters && role !== 'admin' && role !== 'write'
    ? failure(403, 'Must have admin rights to Repository.')
    : null
}
