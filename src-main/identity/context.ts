import type { Clock } from '../ports/clock.ts'
import type { IdentityStore } from './identity-store.ts'
import type { NoteUse } from './note-use.ts'

/** What every part of identity works with. */
export interface IdentityContext {
  readonly store: IdentityStore
  readonly clock: Clock
  /** A new UUIDv7. */
  readonly newId: () => string
  readonly nowIso: () => string
  readonly noteUse: NoteUse
}
