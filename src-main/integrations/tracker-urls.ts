import type { Platform } from '../../src-shared/contract/trackers.ts'
import { platforms, publicPlatform, trackerInfos } from '../../src-shared/contract/trackers.ts'
import type { Base, Repository } from './rules/issue-address.ts'

/** The ends of API addresses, which addresses of pages do not have. */
const apiPaths = [...new Set(Object.values(trackerInfos).map(({ apiPath }) => apiPath))]

/** Returns a path without the first of these ends that it has. */
const withoutEnd = (path: string, ends: readonly string[]): string => {
  const end = ends.find((one) => path.endsWith(one))
  return end === undefined ? path : path.slice(0, -end.length)
}

/** Returns the base URL of the pages of a kind's public tracker; null where everyone runs their own. */
function publicWeb(platform: Platform | null): string | null {
  const known = platform === null ? null : trackerInfos[platform].public
  return known === null ? null : `https://${known.webHosts[0]}`
}

/** Parses the `base_url` of an integration; returns a sentence if it is invalid. */
export function readBaseUrl(platform: Platform, text: string): Base | string {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'Use the address of the API, such as https://api.github.com.'
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'Only a tracker on this machine is read without encryption. Begin the address with https://.'
  }
  if (url.username !== '' || url.password !== '') return 'Leave name and password out; the token has its own field.'
  if (url.search !== '' || url.hash !== '') return 'Leave out what begins with ? or #.'
  const api = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  const isPublic = trackerInfos[platform].public?.apiHost === url.host
  const web = isPublic ? publicWeb(platform) : null
  return {
    publicPlatform: isPublic ? platform : null,
    host: url.host,
    web: web ?? withoutEnd(api, apiPaths),
    api,
  }
}

/** Returns the host that a secret is bound to, on this machine without the port; null for an invalid address. */
export function boundHostOf(base_url: string): string | null {
  const url = URL.parse(base_url)
  return url && (isLoopback(url.hostname) ? url.hostname : url.host)
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  )
}

/** The parts of an issue's address. */
export interface IssuePage {
  /** The kind, where the address tells it; null if it doesn't. */
  readonly platform: Platform | null
  readonly base: Base
  readonly repository: Repository
  readonly number: number
}

/** Parses the address of an issue, or returns null. */
export function readIssueUrl(text: string): IssuePage | null {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  if (url.username !== '' || url.password !== '') return null
  const path = url.pathname.replace(/\/$/, '')
  const read = readNested(path) ?? readFlat(path)
  if (read === null) return null
  const known = publicPlatform(url.host)
  const web = publicWeb(known) ?? `${url.origin}${read.before}`
  return {
    platform: known ?? read.platform,
    base: { publicPlatform: known, host: url.host, web, api: web },
    repository: read.repository,
    number: read.number,
  }
}

interface IssuePath {
  readonly platform: Platform | null
  /** The path of the tracker's own root, as far as the address tells it. */
  readonly before: string
  readonly repository: Repository
  readonly number: number
}

const issueNumber = /^[1-9]\d{0,14}$/

/** Reads a path in which the repository's ends at what only one kind of tracker has behind it. */
function readNested(pathname: string): IssuePath | null {
  for (const platform of platforms) {
    const { issuePaths, nestsOwners } = trackerInfos[platform]
    const path = nestsOwners && issuePaths.find((one) => pathname.includes(one))
    if (typeof path !== 'string') continue
    const [place = '', number = ''] = pathname.split(path)
    const [, owner, repo] = /^\/([^%]+)\/([^/%]+)$/.exec(place) ?? []
    if (owner === undefined || repo === undefined || !issueNumber.test(number)) return null
    return { platform, before: '', repository: { owner, repo }, number: Number(number) }
  }
  return null
}

function readFlat(pathname: string): IssuePath | null {
  const [, before = '', owner, repo, number = ''] = /^(.*)\/([^/%]+)\/([^/%]+)\/issues\/([^/]+)$/.exec(pathname) ?? []
  if (owner === undefined || repo === undefined || !issueNumber.test(number)) return null
  // An issue's API address equals that of its page in effect.
  const ends = apiPaths.map((path) => `${path}/repos`)
  return { platform: null, before: withoutEnd(before, ends), repository: { owner, repo }, number: Number(number) }
}
