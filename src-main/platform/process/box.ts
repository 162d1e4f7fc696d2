/** A program with its arguments and complete environment. */
export interface BoxedCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Whether it is started in a terminal. */
  readonly terminal?: boolean
}

/** A sandbox that a process and all its descendants can't leave. */
export interface Box {
  /**
   * Returns the command that runs this one inside the box. Call `release` once no process of it is left. Throws if
   * the system can't.
   */
  contain(command: BoxedCommand): Promise<BoxedCommand & { readonly release: () => Promise<void> }>
}
