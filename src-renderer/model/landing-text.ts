import type { LandingPlace } from '../../src-shared/contract/landing.ts'

/** Says where a task is on its way to its base: `2nd in line for main, behind DS-4`. */
export function landingText(place: LandingPlace | undefined, branch: string, ahead: string | null): string {
  if (place?.state === 'testing') return `Testing the merge into ${branch}`
  if (place?.state !== 'waiting') return `Merging into ${branch}`
  const line = place.position === 1 ? `Next to land on ${branch}` : `${ordinal(place.position)} in line for ${branch}`
  return ahead === null ? line : `${line}, behind ${ahead}`
}

function ordinal(number: number): string {
  const isTeen = number % 100 >= 11 && number % 100 <= 13
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th')
  return `${number}${ending}`
}
