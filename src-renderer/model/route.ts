/** A route of the app. The address contains it, so links and reloads restore it. */
export type Route =
  | { readonly screen: 'home' }
  | {
      readonly screen: 'board'
      readonly projectId: string
      readonly taskId: string | null
      readonly tab: string | null
    }
  | { readonly screen: 'all'; readonly taskId: string | null; readonly tab: string | null }
  | { readonly screen: 'workflow'; readonly projectId: string }
  | { readonly screen: 'project_settings'; readonly projectId: string; readonly section: string | null }
  | { readonly screen: 'add_project' }
  | { readonly screen: 'inbox' }
  | { readonly screen: 'agents' }
  | { readonly screen: 'settings'; readonly section: string | null }

/**
 * Parses `#/p/<project>/t/<task>/<tab>`, `#/p/<project>/workflow`,
 * `#/p/<project>/settings/<section>`, `#/all/t/<task>/<tab>`, `#/add`, `#/inbox`, `#/agents`,
 * `#/settings/<section>`; anything else is home.
 */
export function parseRoute(hash: string): Route {
  const parts = hash
    .replace(/^#\/?/, '')
    .split('/')
    .map((part) => decode(part))
  const [first, second, third, fourth, fifth] = parts
  if (first === 'p' && second && third === 'workflow') return { screen: 'workflow', projectId: second }
  if (first === 'p' && second && third === 'settings')
    return { screen: 'project_settings', projectId: second, section: fourth || null }
  if (first === 'p' && second) {
    const task = third === 't' && fourth ? fourth : null
    return { screen: 'board', projectId: second, taskId: task, tab: task && fifth ? fifth : null }
  }
  if (first === 'all') {
    const task = second === 't' && third ? third : null
    return { screen: 'all', taskId: task, tab: task && fourth ? fourth : null }
  }
  if (first === 'add') return { screen: 'add_project' }
  if (first === 'inbox') return { screen: 'inbox' }
  if (first === 'agents') return { screen: 'agents' }
  if (first === 'settings') return { screen: 'settings', section: second || null }
  return { screen: 'home' }
}

/** Returns the address of a route, the inverse of `parseRoute`. */
export function formatRoute(route: Route): string {
  const join = (...parts: string[]) => `#/${parts.map((part) => encodeURIComponent(part)).join('/')}`
  switch (route.screen) {
    case 'board':
    case 'all': {
      const board = route.screen === 'all' ? ['all'] : ['p', route.projectId]
      if (route.taskId === null) return join(...board)
      return join(...board, 't', route.taskId, ...(route.tab === null ? [] : [route.tab]))
    }
    case 'workflow':
      return join('p', route.projectId, 'workflow')
    case 'project_settings':
      return join('p', route.projectId, 'settings', ...(route.section === null ? [] : [route.section]))
    case 'add_project':
      return '#/add'
    case 'inbox':
      return '#/inbox'
    case 'agents':
      return '#/agents'
    case 'settings':
      return route.section === null ? '#/settings' : join('settings', route.section)
    case 'home':
      return '#/'
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    // A half-typed address is invalid; the caller falls back to home.
    if (error instanceof URIError) return ''
    throw error
  }
}
