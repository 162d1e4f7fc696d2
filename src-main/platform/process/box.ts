/** A program with its arguments and its whole environment. */
export interface BoxedCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** What a process and all that it starts can't get out of. */
export interface Box {
  /** The command that runs this one inside. `release` once nothing of it is left. Throws where the system can't. */
  contain(command: BoxedCommand): Promise<BoxedCommand & { readonly release: () => Promise<void> }>
}
