/** Properties of a stored file, found when it was stored. */
interface StoredFile {
  readonly sha256: string
  readonly size: number
  /** Detected from the content. */
  readonly media_type: string
}

/** Stores the bytes of attachments, each content once. */
export interface AttachmentFiles {
  /**
   * Stores base64 data, then calls `keep` before a sweep can remove it as unneeded. If `keep` throws, the file stays
   * until a sweep finds it unneeded.
   */
  put<T>(data_base64: string, keep: (file: StoredFile) => T): Promise<T>
  /** Returns the content as base64, or null if there is no such file. */
  read(sha256: string): Promise<string | null>
  /** Removes the given files for which `isNeeded` returns false. */
  removeUnneeded(sha256s: readonly string[], isNeeded: (sha256: string) => boolean): Promise<void>
  /** Removes every stored file for which `isNeeded` returns false. */
  sweep(isNeeded: (sha256: string) => boolean): Promise<void>
  /**
   * Copies files into `.copse/attachments` of a worktree, which git ignores, and removes earlier copies; without
   * files it removes the folder. Throws if the folder leads out of the worktree.
   */
  copyInto(worktree: string, files: readonly { readonly sha256: string; readonly name: string }[]): Promise<void>
}
