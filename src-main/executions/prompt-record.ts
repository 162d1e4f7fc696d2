import type { PromptPart, PromptPartSize } from '../../src-shared/contract/prompts.ts'
import { promptText } from './rules/prompt-parts.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'

/** A prompt as an execution stores it: the whole text, and where its parts end. */
export interface StoredPrompt {
  readonly prompt: string
  readonly prompt_parts: readonly PromptPartSize[]
}

export function toStoredPrompt(parts: readonly PromptPart[]): StoredPrompt {
  return {
    prompt: promptText(parts),
    prompt_parts: parts.map(({ kind, text }) => ({ kind, characters: text.length })),
  }
}

/** Returns the parts of an execution's prompt; for one stored before parts were, the whole text as one. */
export function storedParts({ prompt, prompt_parts }: Pick<ExecutionRecord, 'prompt' | 'prompt_parts'>): PromptPart[] {
  const parts: PromptPart[] = []
  let from = 0
  for (const { kind, characters } of prompt_parts ?? []) {
    parts.push({ kind, text: prompt.slice(from, from + characters) })
    from += characters
  }
  return from === prompt.length ? parts : [{ kind: 'given', text: prompt }]
}
