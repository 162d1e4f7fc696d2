/**
 * The operations whose answers `projects.first_screen` gives: without input, and with the project alone. Separate from
 * the operation, because the board's first page uses them and has no schemas.
 */
export const firstScreenParts = {
  ofService: ['system.get', 'projects.list', 'auth.me', 'agents.list', 'runners.list', 'notifications.unread_count'],
  ofProject: [
    'tasks.board',
    'projects.get_workflow',
    'projects.get_settings',
    'members.list',
    'projects.queue',
    'landing.list',
  ],
} as const
