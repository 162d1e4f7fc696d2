/** What an agent of the demo says and does, one after the other. Files are really written, commits really made. */
export type Step =
  | { readonly say: string }
  | { readonly think: string }
  | { readonly read: string }
  | { readonly search: string; readonly found: string }
  | { readonly edit: string; readonly from: string; readonly to: string }
  | { readonly write: string; readonly text: string }
  | { readonly run: string; readonly output: string; readonly fails?: boolean }
  /** A call whose answer does not come: it goes on for as long as it is let. */
  | { readonly running: string }
  | { readonly commit: string }
  | { readonly verdict: 'pass' | 'fail'; readonly feedback: string }

/** By the task's title, its runs one after the other; of further runs the last counts. */
export type Sessions = Readonly<Record<string, readonly (readonly Step[])[]>>
