import type { PullRequestCan, TokenRight } from '../../../src-shared/contract/pull-requests.ts'
import type { GlyphName, Tone } from '../../components/state-glyphs.ts'

interface Face {
  readonly label: string
  readonly glyph: GlyphName
  readonly tone: Tone
}

export const rightFaces: Readonly<Record<TokenRight['state'], Face>> = {
  ok: { label: 'OK', glyph: 'succeeded', tone: 'ok' },
  missing: { label: 'Missing', glyph: 'failed', tone: 'fail' },
  unknown: { label: 'Not known', glyph: 'waiting', tone: 'neutral' },
}

const abilities: Readonly<Record<Exclude<keyof PullRequestCan, 'checks'>, string>> = {
  logs: 'read logs of checks',
  rerun: 'run checks again',
  reply: 'reply in threads',
  resolve: 'resolve threads',
  draft: 'open drafts',
  auto_merge: 'merge automatically',
  queue: 'use a merge queue',
}

/** Returns what can’t be done over this connection, in one sentence; null if all can, or nothing is known. */
export function cannotText(can: PullRequestCan): string | null {
  const checks = { all: [], some: ['read all checks'], none: ['read checks'] }[can.checks ?? 'all']
  const others = (Object.keys(abilities) as (keyof typeof abilities)[]).flatMap((name) =>
    can[name] === false ? [abilities[name]] : [],
  )
  const all = [...checks, ...others]
  if (all.length === 0) return null
  const last = all.at(-1) ?? ''
  return `Copse can’t ${all.length === 1 ? last : `${all.slice(0, -1).join(', ')} or ${last}`} here.`
}

const day = 86_400_000

/** Returns when the token ends, and whether that is soon; null for one without an end that is known. */
export function expiryText(at: string | null, now: number): { readonly text: string; readonly soon: boolean } | null {
  if (at === null) return null
  const days = Math.floor((Date.parse(at) - now) / day)
  if (days < 0) return { text: 'The token has expired. Create a new one.', soon: true }
  if (days === 0) return { text: 'The token expires within 24 hours.', soon: true }
  return { text: `The token expires in ${days === 1 ? '1 day' : `${days} days`}.`, soon: days <= 14 }
}
