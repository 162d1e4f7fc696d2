/** Scheme of the links that open Copse: `copse://task/ID`. */
export const linkScheme = 'copse'

/** The content of a link. */
export type DeepLink = { readonly kind: 'task'; readonly task_id: string } | { readonly kind: 'malformed' }

const taskLink = /^copse:\/\/task\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\/?$/i

/** Parses a link. Any program may send one, so a link can only name a task. */
export function readDeepLink(link: string): DeepLink {
  const id = taskLink.exec(link)?.[1]
  return id === undefined ? { kind: 'malformed' } : { kind: 'task', task_id: id.toLowerCase() }
}

/** Returns the link among the arguments of a start, or null. */
export function linkAmong(args: readonly string[]): string | null {
  return args.find((arg) => arg.toLowerCase().startsWith(`${linkScheme}:`)) ?? null
}
