/** What a stored file turned out to be. */
export interface StoredFile {
  readonly sha256: string
  readonly size: number
  /** By its content. */
  readonly media_type: string
}

/** The bytes of attachments, each content once. */
export interface AttachmentFiles {
  /**
   * Stores what is given as base64, then calls `keep`, before anyone can remove it as unneeded. When `keep` throws, the
   * file stays until a sweep finds that no one needs it.
   */
  put<T>(data_base64: string, keep: (file: StoredFile) => T): Promise<T>
  /** As base64; null when there is no such file. */
  read(sha256: string): Promise<string | null>
  /** Removes those of these that are no longer needed. */
  removeUnneeded(sha256s: readonly string[], isNeeded: (sha256: string) => boolean): Promise<void>
  /** Removes all that are no longer needed. */
  sweep(isNeeded: (sha256: string) => boolean): Promise<void>
  /**
   * Puts copies into `.copse/attachments` of a worktree, where git does not see them, and removes earlier copies.
   * With no files the folder goes. Throws when the folder leads out of the worktree.
   */
  copyInto(worktree: string, files: readonly { readonly sha256: string; readonly name: string }[]): Promise<void>
}
