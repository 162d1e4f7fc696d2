import type { LandingPlace } from '../../src-shared/contract/landing.ts'

/** Says where a task is on its way to its base: `2nd in line for main, about 6 s, behind DS-4`. */
export function landingText(
  place: LandingPlace | undefined,
  branch: string,
  ahead: string | null,
  now: number,
): string {
  if (place === undefined || place.state === 'moving') return `Merging into ${branch}`
  const time = landingTime(place, now)
  const about = time === null ? '' : `, ${time}`
  if (place.state === 'testing') return `Testing the merge into ${branch}${about}`
  const line = place.position === 1 ? `Next to land on ${branch}` : `${ordinal(place.position)} in line for ${branch}`
  return ahead === null ? `${line}${about}` : `${line}${about}, behind ${ahead}`
}

/** Says how long a landing will probably take: `about 6 s`; null while that is unknown, or over. */
export function landingTime({ lands_at }: LandingPlace, now: number): string | null {
  const seconds = lands_at === null ? 0 : Math.ceil((Date.parse(lands_at) - now) / 1_000)
  if (seconds <= 0) return null
  if (seconds < 10) return `about ${seconds} s`
  // A figure that is a guess needn't change each second.
  const rounded = Math.ceil(seconds / 5) * 5
  return rounded < 60 ? `about ${rounded} s` : `about ${Math.round(rounded / 60)} m`
}

function ordinal(number: number): string {
  const isTeen = number % 100 >= 11 && number % 100 <= 13
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th')
  return `${number}${ending}`
}
