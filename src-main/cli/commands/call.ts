import { Argument, type Command } from 'commander'
import type { ZodObject } from 'zod'
import type { OperationSpec } from '../../../src-shared/contract/operation.ts'
import type { OperationName } from '../../../src-shared/contract/operations.ts'
import { routes } from '../../../src-shared/client/routes.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { usageError } from '../cli-error.ts'
import { textOf } from '../prompt.ts'
import { addClientCommand, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'

type Fields = Readonly<Record<string, unknown>>

/** Adds `svc call`: calls any operation of the API, including those without a command. */
export function addCall(program: Command): void {
  addClientCommand(program, {
    usage: 'call',
    summary: 'call an operation of the API by its name, and print its answer as JSON (- reads the fields as JSON)',
    examples: [
      'svc call projects.list',
      'svc call agents.update agent_id=01990000-0000-7000-8000-000000000000 paused=true',
      'svc call tasks.update - < changes.json',
    ],
  })
    .addArgument(new Argument('<operation>').choices(Object.keys(routes)))
    .argument('[fields...]', 'what it takes, each as name=value: a text, or JSON where it takes no text')
    .action((name: OperationName, fields: readonly string[], options: CommonOptions) =>
      runCommand(options, (scene) => call(scene, name, fields)),
    )
}

async function call({ client, out }: CommandContext, name: OperationName, fields: readonly string[]): Promise<void> {
  // The schemas of all operations take as long to make as all else that a command does.
  const { operations } = await import('../../../src-shared/contract/operations.ts')
  const { input, path }: OperationSpec = operations[name]
  const values = fields[0] === '-' && fields.length === 1 ? readObject(await textOf('-')) : readFields(input, fields)
  const unknown = Object.keys(values).filter((key) => !(key in input.shape))
  if (unknown.length > 0) {
    throw usageError(`${name} takes ${Object.keys(input.shape).join(', ') || 'nothing'}; not ${unknown.join(', ')}.`)
  }
  // Path parameters are needed to build the URL.
  const missing = Object.keys(input.shape).filter((key) => path.includes(`{${key}}`) && values[key] === undefined)
  if (missing.length > 0) throw usageError(`${name} needs ${missing.join(' and ')}.`)
  const answer = await client.call(name, values as never)
  await out.answer(answer, () => (answer === null ? '' : JSON.stringify(answer, null, 2)))
}

function readObject(text: string): Fields {
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw usageError('Pass a JSON object on stdin, such as {"project_id": "…"}.')
}

function readFields(input: ZodObject, fields: readonly string[]): Fields {
  const pairs = fields.map((field) => {
    const at = field.indexOf('=')
    if (at < 1) throw usageError(`“${field}” isn't a field. Pass name=value pairs, or - to read them from stdin.`)
    return [field.slice(0, at), field.slice(at + 1)] as const
  })
  return Object.fromEntries(pairs.map(([key, text]) => [key, valueOf(input, key, text)]))
}

/** Returns the text where the operation takes text, else its parsed JSON. The service rejects invalid values. */
function valueOf(input: ZodObject, key: string, text: string): unknown {
  const schema = Object.hasOwn(input.shape, key) ? input.shape[key] : undefined
  if (schema === undefined || schema.safeParse(text).success) return text
  const value = parseJson(text)
  return value === undefined ? text : value
}
