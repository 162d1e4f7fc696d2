/** The origin of a request, as far as it is known. */
export interface RequestSource {
  /** null: the request comes from this process itself, which means from its window. */
  readonly address: string | null
  /** The `User-Agent` of the caller's browser or program. */
  readonly client: string | null
  /** The request comes from the person at this machine: from the window, or a page that its link has signed in. */
  readonly atWindow: boolean
  /**
   * Returns whether the caller's process belongs to the user who runs the service and was not started by the service;
   * null if that can't be determined.
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
