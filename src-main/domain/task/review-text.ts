import type { StepResult } from '../../../src-shared/contract/reviews.ts'
import { firstCharacters } from './knowledge-text.ts'

/** An agent looks at the rest by itself; a prompt of megabytes helps nobody. */
const maxPatch = 60_000

/** A change as whoever judges it reads it. */
export function changeText(patch: string): string {
  if (patch === '') return 'Nothing has changed on this branch.'
  const cut = patch.length > maxPatch
  const shown = cut ? firstLines(patch, maxPatch) : patch
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`{3,}/g)].map(([run]) => run.length + 1)))
  const more = cut ? `\n\nThat is the first part of ${patch.length} characters; read the rest with git diff.` : ''
  return `${fence}diff\n${shown.trimEnd()}\n${fence}${more}`
}

/** What the checks said of it. */
export function checksText(steps: readonly StepResult[]): string {
  if (steps.length === 0) return 'No checks are configured.'
  return steps
    .map(
      (step) => `- \`${step.command}\`: ${step.exit_code === 0 ? 'passed' : `exit code ${step.exit_code ?? 'none'}`}`,
    )
    .join('\n')
}

/** Whole lines; but of a line that is itself most of the text, as in a minified file, what fits. */
function firstLines(text: string, length: number): string {
  const end = text.lastIndexOf('\n', length - 1) + 1
  return end > length / 2 ? text.slice(0, end) : firstCharacters(text, length)
}
