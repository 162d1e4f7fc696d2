import type { ForgeReply, ForgeRequestSeen } from '../forge-server.ts'
import { refusal, sees } from './access.ts'
import { checkRoutes } from './check-routes.ts'
import { notFound, type Route } from './exchange.ts'
import { issueRoutes } from './issue-routes.ts'
import { pullRoutes } from './pull-routes.ts'
import type { FakeToken } from './state.ts'
import { findRepository, type World } from './world.ts'

const routes: readonly Route[] = [...checkRoutes, ...pullRoutes, ...issueRoutes]

/** Answers a request to the REST API by somebody who is known. */
export async function answerRest(world: World, token: FakeToken, request: ForgeRequestSeen): Promise<ForgeReply> {
  // Pages of lists are named by the repository's number, as after a rename.
  const base = new URL(world.api).pathname.replace(/\/$/, '')
  const path = request.path.startsWith(`${base}/`) ? request.path.slice(base.length) : ''
  const [, owner, name, below = ''] = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? []
  const [, id, belowId = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? []
  const named = id === undefined ? findRepository(world, `${owner}/${name}`) : byId(world, Number(id))
  if (!named || !sees(token, named.found)) return notFound()
  const { found: repository, moved } = named
  const rest = id === undefined ? below : belowId
  if (moved) {
    const query = new URLSearchParams(request.query).toString()
    const location = `${world.api}/repositories/${repository.id}${rest}${query === '' ? '' : `?${query}`}`
    const status = request.method === 'GET' ? 301 : 307
    return { status, body: { message: 'Moved Permanently', url: location }, headers: { location } }
  }
  for (const route of routes) {
    const params = route.method === request.method ? matchPath(route.path, rest) : null
    if (!params) continue
    const refused = refusal(token, repository, { method: request.method, needs: route.needs })
    if (refused) return refused
    const body = (request.body ?? {}) as Readonly<Record<string, unknown>>
    return route.answer({ world, repository, token, request, below: rest, params, body })
  }
  return notFound()
}

function byId({ repositories }: World, id: number) {
  const found = repositories.find((repository) => repository.id === id)
  return found ? { found, moved: false } : null
}

/** Returns the parts that vary; `*name` takes the rest of the path. */
function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/')
  const given = path.split('/').map(decodeURIComponent)
  const params: Record<string, string> = {}
  for (const [index, piece] of wanted.entries()) {
    if (piece.startsWith('*')) return { ...params, [piece.slice(1)]: given.slice(index).join('/') }
    const value = given[index]
    if (value === undefined) return null
    if (piece.startsWith(':')) params[piece.slice(1)] = value
    else if (piece !== value) return null
  }
  return given.length === wanted.length ? params : null
}
