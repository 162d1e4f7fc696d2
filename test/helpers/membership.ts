import type { Client } from '../../src-shared/client/create-client.ts'
import type { RunningApp } from './running-app.ts'

export interface Person {
  readonly client: Client
  readonly token: string
  readonly user_id: string
}

/** Registers another person, who is neither admin nor member. */
export async function register(running: RunningApp, display_name: string): Promise<Person> {
  const email = `${display_name.toLowerCase()}@copse.test`
  const session = await running
    .clientWith(null)
    .call('auth.register', { email, password: 'another horse', display_name })
  const { access_token: token, user } = session
  return { client: running.clientWith(token), token, user_id: user.id }
}

/** Adds a member; `running.client` has to be an admin's. */
export async function addMember(
  running: Pick<RunningApp, 'client'>,
  project_id: string,
  user_id: string,
  role: 'owner' | 'member',
): Promise<void> {
  await running.client.call('members.add', { project_id, user_id, role })
}
