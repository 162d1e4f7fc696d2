import type { StepResult } from '../../../src-shared/contract/reviews.ts'

/**
 * Returns whether a CI step failed just as it did before, which shows that the agent makes no progress. Ignores what
 * differs between runs anyway (times, counts, addresses, colours).
 */
export function isSameFailure(now: StepResult, before: StepResult): boolean {
  const failed = now.exit_code !== null && now.exit_code !== 0 && now.exit_code === before.exit_code
  return failed && now.command === before.command && essence(now.output_tail) === essence(before.output_tail)
}

const colours = /\u001B\[[0-9;?]*[A-Za-z]/g

/** Only the end is compared, because where a long output was cut differs from run to run. */
function essence(output: string): string {
  const plain = output
    .replace(colours, '')
    .replace(/\b(?:0x)?(?=\w*\d)[0-9a-f]{7,}\b/gi, '#')
    .replace(/\d+(?:[.,]\d+)*/g, '#')
    .replace(/\s+/g, ' ')
    .trim()
  return plain.slice(-4_000)
}
