import type { Refusal } from '../../src-shared/contract/errors.ts'

/** Tells a refusal from what was asked for. */
export function isRefusal(value: object): value is Refusal {
  return 'code' in value && 'message' in value
}

/** What is named does not exist. */
export function notFound(resource: string): Refusal {
  return { code: 'not_found', message: `There is no such ${resource}.`, details: { resource } }
}

/** A field of the input that can't be taken. */
export function invalidInput(path: string, message: string): Refusal {
  return { code: 'validation_failed', message, details: { issues: [{ path, message }] } }
}
