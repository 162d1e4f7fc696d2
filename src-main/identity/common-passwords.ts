import { ApiError } from '../../src-shared/contract/errors.ts'

let known: Promise<ReadonlySet<string>> | null = null

/** Loaded when a password is first chosen, not at the start: it takes about 25 ms. */
async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].map((password) => password.toLowerCase()))
}

/** Refuses a password that attackers try first. `field` names the input. Throws `validation_failed`. */
export async function refuseCommonPassword(password: string, field: 'password' | 'new_password'): Promise<void> {
  const passwords = await (known ??= load())
  if (passwords.has(password.toLowerCase())) {
    throw badPassword(field, 'This password is among those that are tried first. Choose another.')
  }
}

/** Returns the refusal of a password, with the reason. */
export function badPassword(path: 'password' | 'new_password', message: string): ApiError {
  return new ApiError({
    code: 'validation_failed',
    message: `${path}: ${message}`,
    details: { issues: [{ path, message }] },
  })
}
