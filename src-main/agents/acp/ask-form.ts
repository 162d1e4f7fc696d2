import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationContentValue,
  ElicitationPropertySchema,
  ElicitationSchema,
} from '@agentclientprotocol/sdk'
import type { AskOption } from '../../../src-shared/contract/executions.ts'
import { escapeControls } from '../../../src-shared/lang/hidden-characters.ts'
import type { AgentRequest, AgentRequestAnswer } from '../../ports/executors.ts'
import type { Permissions } from '../agent/permissions.ts'

/** A choice of a field: what is shown, and what the agent gets. */
interface Choice {
  readonly label: string
  readonly value: string | boolean
  readonly description: string | null
}

/**
 * Asks people the fields of an agent's form one after the other, and returns the answers as the form wants them. The
 * form is cancelled when no one will answer, or when it can't be asked.
 */
export async function askForm(
  form: CreateElicitationRequest,
  ask: Permissions['ask'],
  signal: AbortSignal,
): Promise<CreateElicitationResponse> {
  // Other modes are not offered; the type holds those of the future, too.
  const schema = form.mode === 'form' ? (form.requestedSchema as ElicitationSchema) : {}
  const fields = Object.entries(schema.properties ?? {})
  const content: Record<string, ElicitationContentValue> = {}
  for (const [name, field] of fields) {
    const answer = await ask(questionOf(form.message, name, field, fields.length), signal)
    if (answer === null) return { action: 'cancel' }
    const value = valueOf(field, answer)
    if (value !== null) content[name] = value
  }
  return fields.length > 0 ? { action: 'accept', content } : { action: 'cancel' }
}

function questionOf(message: string, name: string, field: ElicitationPropertySchema, fields: number): AgentRequest {
  const own = textIn(field, 'title') ?? name
  const about = textIn(field, 'description')
  // A form of one field says in its message what it wants.
  const text = fields === 1 ? message : [`${message.replace(/[.:]$/, '')}: ${own}`, about].filter(Boolean).join('\n')
  return {
    kind: 'question',
    text: escapeControls(text),
    tool: null,
    action: null,
    target: null,
    detail: null,
    diff: null,
    options: choicesOf(field).map(({ label, description }, index): AskOption => {
      return { id: String(index + 1), label, description, kind: 'choice' }
    }),
    multiple: field.type === 'array',
    takes_text: !isClosed(field),
  }
}

/** A value outside of the choices would break the form. */
const isClosed = (field: ElicitationPropertySchema): boolean => field.type !== 'array' && choicesOf(field).length > 0

function choicesOf(field: ElicitationPropertySchema): readonly Choice[] {
  if (field.type === 'boolean') {
    return [
      { label: 'Yes', value: true, description: null },
      { label: 'No', value: false, description: null },
    ]
  }
  const source: unknown = field.type === 'array' ? field.items : field
  const plain = listIn(source, 'enum').filter((value) => typeof value === 'string')
  if (plain.length > 0) return plain.map((value) => ({ label: escapeControls(value), value, description: null }))
  return [...listIn(source, 'oneOf'), ...listIn(source, 'anyOf')].flatMap((option) => {
    const value = textIn(option, 'const')
    if (value === null) return []
    const description = textIn(option, 'description')
    return [
      {
        label: escapeControls(textIn(option, 'title') ?? value),
        value,
        description: description && escapeControls(description),
      },
    ]
  })
}

/** Null where the answer says nothing that the field can hold. */
function valueOf(
  field: ElicitationPropertySchema,
  { option, text }: AgentRequestAnswer,
): ElicitationContentValue | null {
  const choices = choicesOf(field)
  const chosen = option === null ? null : (choices[Number(option.id) - 1]?.value ?? null)
  if (field.type === 'array') {
    const isChosen = ({ label }: Choice) => option?.label === label || `, ${text ?? ''}, `.includes(`, ${label}, `)
    return choices.filter(isChosen).map(({ value }) => String(value))
  }
  if (choices.length > 0) return chosen
  if (field.type === 'number' || field.type === 'integer') {
    const number = Number(text)
    return text === null || text.trim() === '' || !Number.isFinite(number) ? null : number
  }
  return text
}

function textIn(record: unknown, name: string): string | null {
  const value = typeof record === 'object' && record !== null ? Reflect.get(record, name) : null
  return typeof value === 'string' && value !== '' ? value : null
}

function listIn(record: unknown, name: string): readonly unknown[] {
  const value: unknown = typeof record === 'object' && record !== null ? Reflect.get(record, name) : null
  return Array.isArray(value) ? value : []
}
