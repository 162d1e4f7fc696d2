/** A question with its options, as agents give it to the tool with which they ask people. */
export interface StructuredQuestion {
  readonly question: string
  readonly options: readonly { readonly label: string; readonly description: string | null }[]
}

/** Returns the questions that a tool is given; none if its input is something else. */
export function questionsOf(input: unknown): readonly StructuredQuestion[] {
  const list = isRecord(input) ? input['questions'] : null
  if (!Array.isArray(list)) return []
  const questions = list.flatMap((one: unknown): StructuredQuestion[] => {
    if (!isRecord(one) || typeof one['question'] !== 'string') return []
    const options = Array.isArray(one['options']) ? one['options'] : []
    return [{ question: one['question'], options: options.flatMap(optionOf) }]
  })
  return questions.length === list.length ? questions : []
}

function optionOf(option: unknown): StructuredQuestion['options'] {
  if (!isRecord(option) || typeof option['label'] !== 'string') return []
  const { description } = option
  return [{ label: option['label'], description: typeof description === 'string' ? description : null }]
}

/** Returns questions as people read them, one option per line. */
export function questionText(questions: readonly StructuredQuestion[]): string {
  return questions
    .map(({ question, options }) =>
      [
        question,
        ...options.map(({ label, description }) => `  ${label}${description === null ? '' : ` · ${description}`}`),
      ].join('\n'),
    )
    .join('\n\n')
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
