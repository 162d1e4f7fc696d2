/** Encrypts secrets with a key in the system's keychain, so that the file alone is useless. */
export interface SecretSeal {
  seal(secret: Uint8Array): Uint8Array
  /** Throws if the data was not sealed on this machine or the keychain does not answer. */
  open(sealed: Uint8Array): Uint8Array
}

/** A stored secret that this start can't read. The message is one line that says what to do. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError'
  readonly code = 'secret_unreadable'
}
