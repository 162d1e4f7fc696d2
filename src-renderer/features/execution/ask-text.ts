import type { Ask, AskOption } from '../../../src-shared/contract/executions.ts'

/** What somebody chose and wrote. */
export interface Given {
  /** The option whose button was pressed; null where the words were sent. */
  readonly option: AskOption | null
  /** The ids of the options that were ticked, where several may be. */
  readonly chosen: readonly string[]
  readonly words: string
}

/** The answer to send: words go with a rejection and an answer, never with leave to do something. */
export function answerOf(ask: Ask, { option, chosen, words }: Given): { option_id?: string; text?: string } {
  const own = words.trim()
  const fits = ask.takes_text && (ask.kind === 'question' || option?.kind === 'reject_once')
  const labels = ask.options.filter(({ id }) => chosen.includes(id)).map(({ label }) => label)
  const text = [...labels, ...(fits && own !== '' ? [own] : [])].join(', ')
  return { ...(option && { option_id: option.id }), ...(text !== '' && { text }) }
}

/** Every character that can't be seen, or that changes what is seen, as its code: people allow what they read. */
export function showHidden(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char === '\n' || char === '\t' ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
