import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import type { Client } from '../../src-shared/client/create-client.ts'
import type { RunningApp } from './running-app.ts'

export interface Person {
  readonly client: Client
  readonly user_id: string
}

/** Registers one more person, who is no admin and no member of anything. */
export async function register(running: RunningApp, display_name: string): Promise<Person> {
  const email = `${display_name.toLowerCase()}@copse.test`
  const session = await running
    .clientWith(null)
    .call('auth.register', { email, password: 'another horse', display_name })
  return { client: running.clientWith(session.access_token), user_id: session.user.id }
}

/** Makes somebody a member, in the database of the running app. */
export function addMember(running: RunningApp, project_id: string, user_id: string, role: 'owner' | 'member'): void {
  const database = new SqliteDatabase(join(running.dataDir, 'copse.db'))
  try {
    database.pragma('busy_timeout = 5000')
    database
      .prepare('INSERT INTO project_members (project_id, user_id, role) VALUES (?, ?, ?)')
      .run(project_id, user_id, role)
  } finally {
    database.close()
  }
}
