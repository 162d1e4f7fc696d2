/** Where a request comes from, as far as it can be told. */
export interface RequestSource {
  /** null: from this process itself, which is the window's. */
  readonly address: string | null
  /** What the caller's browser or program says of itself. */
  readonly client: string | null
  /** The person at this machine asks: by the window, or by a page that its link has signed in. */
  readonly atWindow: boolean
  /**
   * Whether the process that asks belongs to the user that runs the service, and is none that the service itself has
   * started; null where that can't be told.
   */
  readonly isSameUser: () => Promise<boolean | null>
}

/** The service itself, or the window in its process. */
export const thisProcess: RequestSource = {
  address: null,
  client: null,
  atWindow: true,
  isSameUser: () => Promise.resolve(true),
}
