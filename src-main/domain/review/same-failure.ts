import type { StepResult } from '../../../src-shared/contract/reviews.ts'

/**
 * Whether a CI step failed in just the way in which it failed before: the agent turns in a circle.
 * What differs from run to run by nature (times, counts, addresses, colours) does not count.
 */
export function isSameFailure(now: StepResult, before: StepResult): boolean {
  const failed = now.exit_code !== null && now.exit_code !== 0 && now.exit_code === before.exit_code
  return failed && now.command === before.command && essence(now.output_tail) === essence(before.output_tail)
}

const colours = /\u001B\[[0-9;?]*[A-Za-z]/g

/** The end counts: where a long output was cut differs from run to run. */
function essence(output: string): string {
  const plain = output
    .replace(colours, '')
    .replace(/\b(?:0x)?(?=\w*\d)[0-9a-f]{7,}\b/gi, '#')
    .replace(/\d+(?:[.,]\d+)*/g, '#')
    .replace(/\s+/g, ' ')
    .trim()
  return plain.slice(-4_000)
}
