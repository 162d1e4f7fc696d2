import type { Platform } from '../../src-shared/contract/integrations.ts'
import type { Base, Repository } from '../domain/integration/issue-address.ts'

const publicApiHost = 'api.github.com'
const publicWebHost = 'github.com'

/** API address endings, which an issue's page does not have. */
const apiEnding = /\/api\/v[13]$/

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
  const isPublic = platform === 'hosted' && url.host === publicApiHost
  return { isPublic, host: url.host, web: isPublic ? `https://${publicWebHost}` : api.replace(apiEnding, ''), api }
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

/** The parts of an issue's address, which does not say the host's platform. */
export interface IssuePage {
  readonly base: Base
  readonly repository: Repository
  readonly number: number
}

/** Parses the address of an issue, or returns null. */
export function readIssueUrl(text: string): IssuePage | null {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  if (url.username !== '' || url.password !== '') return null
  const parts = /^(.*)\/([^/%]+)\/([^/%]+)\/issues\/([1-9]\d{0,14})\/?$/.exec(url.pathname)
  const [, before = '', owner, repo, number] = parts ?? []
  if (owner === undefined || repo === undefined) return null
  const isPublic = url.host === publicWebHost || url.host === `www.${publicWebHost}` || url.host === publicApiHost
  // An issue's API address equals that of its page in effect.
  const web = isPublic ? `https://${publicWebHost}` : `${url.origin}${before.replace(/\/api\/v[13]\/repos$/, '')}`
  return { base: { isPublic, host: url.host, web, api: web }, repository: { owner, repo }, number: Number(number) }
}
