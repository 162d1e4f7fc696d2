/** The last eight hex digits: what cards, branches and people call a task by. */
export function shortId(id: string): string {
  return id.replaceAll('-', '').slice(-8)
}
