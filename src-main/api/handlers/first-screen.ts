import { firstScreenParts } from '../../../src-shared/contract/first-screen-parts.ts'
import type { OperationName, OperationOutput } from '../../../src-shared/contract/operations.ts'
import type { CallContext } from '../api.ts'
import type { Handlers } from '../context.ts'

export interface FirstScreenParts {
  /** Calls an operation as the caller of the first screen. */
  readonly call: (name: OperationName, input: unknown, context: CallContext) => Promise<unknown>
}

export function createFirstScreenHandlers({ call }: FirstScreenParts): Handlers<'projects.first_screen'> {
  return {
    'projects.first_screen': async (input, context) => {
      const { ofService, ofProject } = firstScreenParts
      const ask = async (name: OperationName, of: object) => [name, await call(name, of, context)] as const
      const asked = [...ofService.map((name) => ask(name, {})), ...ofProject.map((name) => ask(name, input))]
      // The page asks again for what is refused here, and shows why.
      const answered = await Promise.allSettled(asked)
      const answers = answered.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      return Object.fromEntries(answers) as OperationOutput<'projects.first_screen'>
    },
  }
}
