import type { Ask, AskOption } from '../../../src-shared/contract/executions.ts'

/** The input of a person who answers. */
export interface Given {
  /** The option of the pressed button; null if text was sent. */
  readonly option: AskOption | null
  /** The IDs of the checked options in a multiple choice. */
  readonly chosen: readonly string[]
  readonly words: string
}

/**
 * Returns the answer to send. Text is only sent with a rejection or an answer, not with a
 * permission.
 */
export function answerOf(ask: Ask, { option, chosen, words }: Given): { option_id?: string; text?: string } {
  const own = words.trim()
  const fits = ask.takes_text && (ask.kind === 'question' || option?.kind === 'reject_once')
  const labels = ask.options.filter(({ id }) => chosen.includes(id)).map(({ label }) => label)
  const text = [...labels, ...(fits && own !== '' ? [own] : [])].join(', ')
  return { ...(option && { option_id: option.id }), ...(text !== '' && { text }) }
}

/**
 * Escapes invisible characters, and characters that change how others are shown, as code points:
 * people must see all that they allow.
 */
export function showHidden(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char === '\n' || char === '\t' ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
