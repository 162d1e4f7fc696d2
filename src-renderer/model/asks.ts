import type { Ask, AskOption, Execution } from '../../src-shared/contract/executions.ts'

/** A request of an agent with the run that waits for its answer. */
export interface OpenAsk {
  readonly executionId: string
  readonly ask: Ask
  /** The number of open requests of the run, including this one. */
  readonly waiting: number
}

/** Returns the first open request of a run; null without one. */
export function openAskOf(run: Pick<Execution, 'id' | 'asks'> | null | undefined): OpenAsk | null {
  const ask = run?.asks?.[0]
  return run && ask ? { executionId: run.id, ask, waiting: run.asks?.length ?? 1 } : null
}

/** What `executions.answer` takes. */
export interface AskAnswer {
  readonly option_id?: string
  readonly text?: string
}

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
export function answerOf(ask: Ask, { option, chosen, words }: Given): AskAnswer {
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

/** What a box says of a request: a command or path is below the heading, and not in it too. */
export interface AskText {
  readonly heading: string
  /** The command, or all that the tool is given; null if the heading or a diff says it. */
  readonly plate: string | null
}

/** Returns the texts of a request, with each command and path said once. */
export function askText({ text, target, detail, diff }: Ask): AskText {
  const isSaidBelow = target !== null && text.endsWith(target) && (diff !== null || beginsWith(detail, target))
  const heading = isSaidBelow ? text.slice(0, -target.length).trimEnd() : text
  return { heading: showHidden(heading), plate: detail === null ? null : showHidden(detail) }
}

/** Returns whether a text is the one of which `line` is all or the beginning, in one line. */
const beginsWith = (text: string | null, line: string): boolean =>
  text !== null && text.replace(/\s+/g, ' ').trim().startsWith(line.replace(/…$/, ''))

const maxCardLines = 8
const maxCardCharacters = 400
/** In characters, of all options together. */
const maxCardOptions = 500

/**
 * Returns whether a card has room for the whole request. People must be able to read all that they
 * allow, so a longer one is answered where all of it is shown.
 */
export function fitsOnCard(ask: Ask): boolean {
  const { text, detail, diff, options } = ask
  const parts = [text, detail ?? '', diff?.old_text ?? '', diff?.new_text ?? ''].join('\n')
  const labels = options.map(({ label, description }) => `${label}${description ?? ''}`).join('')
  return (
    parts.length <= maxCardCharacters &&
    parts.trim().split('\n').length <= maxCardLines &&
    labels.length <= maxCardOptions
  )
}

/** The command whose key gives this option: by what it does, else by its number. */
export function commandOf(option: AskOption): 'allow' | 'allow-run' | 'deny' | null {
  if (option.kind === 'allow_once') return 'allow'
  if (option.kind === 'allow_always') return 'allow-run'
  return option.kind === 'reject_once' ? 'deny' : null
}

/** The parts of a system notification with which a request is answered. */
export interface NoticeAnswers {
  readonly body: string
  readonly actions: readonly string[]
  readonly reply?: string
}

/** In characters, of the body; systems cut longer ones. */
const maxNoticeBody = 160

/**
 * Returns how a request is answered in a system notification; null if it can't show all of it. A
 * change never fits.
 */
export function noticeAnswers({
  kind,
  text,
  action,
  target,
  detail,
  diff,
  options,
  multiple,
  takes_text,
}: Ask): NoticeAnswers | null {
  if (diff !== null || multiple) return null
  const body = showHidden(text)
  const saysAll = detail === null || (action === 'run' && detail === target && text.endsWith(detail))
  if (!saysAll || body.length > maxNoticeBody || body.includes('\n')) return null
  const reply = kind === 'question' && takes_text ? { reply: 'Your own answer' } : {}
  return { body, actions: options.map(({ label }) => showHidden(label)), ...reply }
}
