import type { Clock } from '../ports/clock.ts'
import type { IdentityStore } from './identity-store.ts'
import type { NoteUse } from './note-use.ts'

/** The services of all parts of identity. */
export interface IdentityContext {
  readonly store: IdentityStore
  readonly clock: Clock
  /** Returns a new UUIDv7. */
  readonly newId: () => string
  readonly nowIso: () => string
  readonly noteUse: NoteUse
}
