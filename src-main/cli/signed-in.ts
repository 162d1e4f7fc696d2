import type { Client } from '../../src-shared/client/create-client.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { ask, secretsFromStdin } from './prompt.ts'
import { clientWith, type CommandContext } from './command-context.ts'

/** Passwords that a command asks for on the terminal, or reads line by line from stdin. */
export interface PasswordPrompt {
  next(question: string): Promise<string>
}

export function createPasswordPrompt(): PasswordPrompt {
  let lines: Promise<string[]> | null = null
  return {
    next: async (question) => {
      if (process.stdin.isTTY) return await ask(question, { hidden: true, without: '' })
      lines ??= secretsFromStdin()
      return (await lines).shift() ?? ''
    },
  }
}

/**
 * Runs work that a personal token may not do, in a session that a password opens. A caller whose token is of a
 * session already is asked nothing.
 */
export async function signedIn<T>(
  { url, client, token }: CommandContext,
  passwords: PasswordPrompt,
  work: (client: Client, password: string | null) => Promise<T>,
): Promise<T> {
  const { email } = await client.call('auth.me', {})
  if (token?.startsWith('svc_') !== true) return await work(client, null)
  const password = await passwords.next(`Password of ${email}: `)
  const anonymous = clientWith(url, null)
  const session = await anonymous.call('auth.login', { email, password })
  try {
    return await work(clientWith(url, session.access_token), password)
  } finally {
    await anonymous.call('auth.logout', { refresh_token: session.refresh_token }).catch((error: unknown) => {
      // The session expires anyway, and the work may have ended it.
      if (!(error instanceof ApiError)) throw error
    })
  }
}
