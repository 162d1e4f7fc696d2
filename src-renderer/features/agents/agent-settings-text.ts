import { executorInfos } from '../../../src-shared/contract/executor-profiles.ts'
import type { Agent } from '../../../src-shared/contract/projects.ts'

/** The longest text that the column shows whole. */
const maxLength = 28

/** Returns an agent's type and settings; among others, its command from where it differs from theirs. */
export function settingsText({ executor, config }: Agent, otherCommands: readonly string[] = []): string {
  const line = executorInfos[executor].command === 'line' ? config.command : undefined
  const parts = [config.model, config.effort, line && differingPart(line, otherCommands)]
  return [executor, ...parts.filter((part) => part !== undefined)].join(' · ')
}

/**
 * Returns a command as its row shows it. A long one begins at the word or path segment where it first
 * differs from the command most like it: `sh scripts/agents/mend.sh` → `…mend.sh`.
 * Of equal commands that is the last one.
 */
export function differingPart(command: string, others: readonly string[]): string {
  if (command.length <= maxLength) return command
  const shared = Math.max(0, ...others.map((other) => sharedLength(command, other)))
  const start = Math.max(...[' ', '/', '\\'].map((sign) => command.lastIndexOf(sign, shared - 1))) + 1
  return shared === 0 || start === 0 ? command : `…${command.slice(start)}`
}

/** Returns how many characters two texts begin with in common. */
function sharedLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}
