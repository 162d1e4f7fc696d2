import type { Refusal } from '../../src-shared/contract/errors.ts'

/** Distinguishes a refusal from a result. */
export function isRefusal(value: object): value is Refusal {
  return 'code' in value && 'message' in value
}

/** The refusal for an ID or name that does not exist. */
export function notFound(resource: string): Refusal {
  return { code: 'not_found', message: `This ${resource.replaceAll('_', ' ')} doesn't exist.`, details: { resource } }
}

/** The refusal for an invalid field of the input. */
export function invalidInput(path: string, message: string): Refusal {
  return { code: 'validation_failed', message, details: { issues: [{ path, message }] } }
}
