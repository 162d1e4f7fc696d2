import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { Ask, AskOption } from '../../../src-shared/contract/executions.ts'
import { invalidInput } from '../../domain/refusal.ts'

/** An answer as a client sends it. */
export interface GivenAnswer {
  readonly option_id?: string | undefined
  readonly text?: string | undefined
}

/** Returns the valid form of an answer, or why it does not fit the request. */
export function checkAnswer(
  { kind, options, takes_text }: Pick<Ask, 'kind' | 'options' | 'takes_text'>,
  { option_id, text }: GivenAnswer,
): { readonly option: AskOption | null; readonly text: string | null } | Refusal {
  const option = option_id === undefined ? null : (options.find(({ id }) => id === option_id) ?? null)
  const known = options.map(({ id }) => `\`${id}\``).join(', ')
  if (option_id !== undefined && option === null) return invalidInput('option_id', `No such option. Choose ${known}.`)
  if (option === null && (text === undefined || kind === 'permission')) {
    return invalidInput('option_id', known === '' ? 'Answer with `text`.' : `Choose one of its options: ${known}.`)
  }
  if (text !== undefined && !takes_text)
    return invalidInput('text', `This question has fixed answers. Choose ${known}.`)
  return { option, text: text ?? null }
}
