/** Keeps secrets so that the file alone is of no use: a keychain of the system has what opens them. */
export interface SecretSeal {
  seal(secret: Uint8Array): Uint8Array
  /** Throws for what was not sealed here, or when the keychain does not answer. */
  open(sealed: Uint8Array): Uint8Array
}

/** A secret lies on the disk in a way that this start can't read. The message is one line that says what to do. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError'
  readonly code = 'secret_unreadable'
}
