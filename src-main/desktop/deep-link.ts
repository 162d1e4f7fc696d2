/** The links that open Copse: `copse://task/ID`. */
export const linkScheme = 'copse'

/** What a link of ours asks for. */
export type DeepLink = { readonly kind: 'task'; readonly task_id: string } | { readonly kind: 'malformed' }

const taskLink = /^copse:\/\/task\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\/?$/i

/** Reads a link. Any program may send one, so that it can name a task and nothing else. */
export function readDeepLink(link: string): DeepLink {
  const id = taskLink.exec(link)?.[1]
  return id === undefined ? { kind: 'malformed' } : { kind: 'task', task_id: id.toLowerCase() }
}

/** The link among the arguments of a start; null without one. */
export function linkAmong(args: readonly string[]): string | null {
  return args.find((arg) => arg.toLowerCase().startsWith(`${linkScheme}:`)) ?? null
}
