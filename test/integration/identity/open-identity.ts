import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { v7 } from 'uuid'
import { thisProcess, type RequestSource } from '../../../src-main/domain/access/request-source.ts'
import { createIdentity } from '../../../src-main/identity/create-identity.ts'
import type { Announcement, IdentityStore } from '../../../src-main/identity/identity-store.ts'
import type { Identity } from '../../../src-main/identity/create-identity.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import type { Database } from '../../../src-main/store/database-type.ts'
import { createIdentityStore } from '../../../src-main/store/identity-store.ts'
import type { UserId } from '../../../src-shared/contract/ids.ts'

export interface OpenIdentity extends AsyncDisposable {
  readonly identity: Identity
  readonly db: Database
  readonly dataDir: string
  /** The user who was given the ownerless resources. */
  readonly adopted: readonly UserId[]
  /** Milliseconds since the epoch; tests move it. */
  readonly time: { now: number }
}

/** Identity over a real database in a temporary folder, with a clock that the test moves. */
export async function openIdentity(
  options: {
    readonly registration?: 'open' | 'closed'
    readonly exposed?: boolean
    readonly adopt?: (user_id: UserId) => void
    readonly bcryptCost?: number
    /** Every execution counts as running by default, because this database has none. */
    readonly isAtWork?: IdentityStore['isAtWork']
  } = {},
): Promise<OpenIdentity> {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-identity-'))
  const database = await openDatabase(join(dataDir, 'copse.db'), resolve('src-main/store/migrations'))
  const adopted: UserId[] = []
  const time = { now: Date.parse('2026-11-21T09:30:00.000Z') }
  const identity = createIdentity({
    store: {
      ...createIdentityStore(database.db, <T>(work: (announce: Announcement) => T) =>
        database.transaction(() =>
          work({
            registered: ({ id }, isFirst) => {
              if (!isFirst) return
              options.adopt?.(id)
              adopted.push(id)
            },
          }),
        ),
      ),
      isAtWork: options.isAtWork ?? (() => true),
    },
    clock: { now: () => time.now },
    newId: v7,
    config: {
      bcryptCost: options.bcryptCost ?? 4,
      registration: {
        registration: options.registration ?? 'open',
        startedAs: 'serve',
        exposed: options.exposed ?? false,
      },
      dataDir,
    },
  })
  return {
    identity,
    db: database.db,
    dataDir,
    adopted,
    time,
    [Symbol.asyncDispose]: async () => {
      database.close()
      await rm(dataDir, { recursive: true })
    },
  }
}

/** The input of a registration. */
export const person = (email: string, password = 'correct horse') => ({ email, password, display_name: 'Somebody' })

/** A caller elsewhere, or on this machine. */
export const from = (address: string): RequestSource => ({ ...thisProcess, atWindow: false, address })
export const here = thisProcess

/** A personal token with all rights, valid until it is revoked. */
export const lasting = (name: string) => ({ name, scope: 'full', expires_at: null }) as const
