import { ApiError } from '../../src-shared/contract/errors.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import type { ApiParts } from './context.ts'

/** Throws `validation_failed` with the position of each path that leads to Copse's own files. */
export function checkExtraPaths(
  { containment }: Pick<ApiParts, 'containment'>,
  field: string,
  paths: AgentConfig['extra_paths'] = {},
): void {
  const issues = (['read', 'write'] as const).flatMap((what) =>
    (paths[what] ?? []).flatMap((path, index) => {
      const message = containment.pathProblem(path)
      return message === null ? [] : [{ path: `${field}.${what}.${index}`, message }]
    }),
  )
  const [first] = issues
  if (first) throw new ApiError({ code: 'validation_failed', message: first.message, details: { issues } })
}
