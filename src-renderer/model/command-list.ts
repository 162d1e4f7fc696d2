/** A command with a name and keys; the component on screen registers its handler. */
export interface CommandInfo {
  readonly id: string
  readonly group: CommandGroup
  readonly label: string
  /**
   * Bindings in the notation of tinykeys: spaces separate the presses of one binding. Each binding
   * triggers the command.
   */
  readonly keys: readonly string[]
}

export const commandGroups = ['Everywhere', 'Go to', 'Board and lists', 'Task', 'Changes', 'Inbox'] as const
type CommandGroup = (typeof commandGroups)[number]

const digits = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].map((digit) => `[Shift]+${digit}`)

/** All commands in the order of their list. Punctuation keys need Shift on some keyboards. */
export const commandList = [
  { id: 'palette', group: 'Everywhere', label: 'Command palette', keys: ['$mod+k'] },
  { id: 'new', group: 'Everywhere', label: 'New task', keys: ['c'] },
  { id: 'search', group: 'Everywhere', label: 'Search', keys: ['[Shift]+/'] },
  { id: 'shortcuts', group: 'Everywhere', label: 'All shortcuts', keys: ['[Shift]+?'] },
  { id: 'back', group: 'Everywhere', label: 'Back', keys: ['Escape'] },
  { id: 'go-all', group: 'Go to', label: 'All projects', keys: ['g p'] },
  { id: 'go-board', group: 'Go to', label: 'Board', keys: ['g b'] },
  { id: 'go-inbox', group: 'Go to', label: 'Inbox', keys: ['g i'] },
  { id: 'go-agents', group: 'Go to', label: 'Agents', keys: ['g a'] },
  { id: 'go-workflow', group: 'Go to', label: 'Workflow', keys: ['g w'] },
  { id: 'go-settings', group: 'Go to', label: 'Settings', keys: ['g s'] },
  { id: 'left', group: 'Board and lists', label: 'Card to the left', keys: ['ArrowLeft', 'h'] },
  { id: 'right', group: 'Board and lists', label: 'Card to the right', keys: ['ArrowRight', 'l'] },
  { id: 'up', group: 'Board and lists', label: 'Card or row above', keys: ['ArrowUp', 'k'] },
  { id: 'down', group: 'Board and lists', label: 'Card or row below', keys: ['ArrowDown', 'j'] },
  { id: 'raise', group: 'Board and lists', label: 'Move card up', keys: ['Alt+ArrowUp'] },
  { id: 'lower', group: 'Board and lists', label: 'Move card down', keys: ['Alt+ArrowDown'] },
  { id: 'select', group: 'Board and lists', label: 'Select or not', keys: ['Space'] },
  { id: 'select-up', group: 'Board and lists', label: 'Extend selection up', keys: ['Shift+ArrowUp'] },
  { id: 'select-down', group: 'Board and lists', label: 'Extend selection down', keys: ['Shift+ArrowDown'] },
  { id: 'select-left', group: 'Board and lists', label: 'Extend selection left', keys: ['Shift+ArrowLeft'] },
  { id: 'select-right', group: 'Board and lists', label: 'Extend selection right', keys: ['Shift+ArrowRight'] },
  { id: 'open', group: 'Board and lists', label: 'Open task', keys: ['Enter'] },
  { id: 'menu', group: 'Board and lists', label: 'Task actions', keys: ['[Shift]+.'] },
  { id: 'view', group: 'Board and lists', label: 'Switch between board and list', keys: ['$mod+b'] },
  { id: 'filter', group: 'Board and lists', label: 'Filter', keys: ['Shift+f'] },
  { id: 'needs-you', group: 'Board and lists', label: 'Show only what needs you', keys: ['y'] },
  { id: 'next-needs-you', group: 'Board and lists', label: 'Next that needs you', keys: ['Shift+n'] },
  { id: 'allow', group: 'Task', label: 'Allow what the agent asks', keys: ['[Shift]+1'] },
  { id: 'allow-run', group: 'Task', label: 'Allow it for this run', keys: ['[Shift]+2'] },
  { id: 'deny', group: 'Task', label: 'Deny what the agent asks', keys: ['[Shift]+3'] },
  { id: 'answer', group: 'Task', label: 'Answer a question by number', keys: digits },
  { id: 'move', group: 'Task', label: 'Move to state', keys: ['m'] },
  { id: 'assign', group: 'Task', label: 'Assign', keys: ['a'] },
  { id: 'priority', group: 'Task', label: 'Set priority', keys: ['p'] },
  { id: 'label', group: 'Task', label: 'Set labels', keys: ['Shift+l'] },
  { id: 'start', group: 'Task', label: 'Start agent', keys: ['s'] },
  { id: 'after', group: 'Task', label: 'Starts after…', keys: ['Shift+s'] },
  { id: 'stop', group: 'Task', label: 'Stop agent', keys: ['x'] },
  { id: 'merge', group: 'Task', label: 'Merge', keys: ['Shift+m'] },
  { id: 'merge-next', group: 'Task', label: 'Merge and go to the next that needs you', keys: ['Shift+y'] },
  { id: 'undo-merge', group: 'Task', label: 'Undo merge', keys: ['Shift+u'] },
  { id: 'approve', group: 'Task', label: 'Approve', keys: ['Shift+a'] },
  { id: 'request-changes', group: 'Task', label: 'Request changes', keys: ['Shift+r'] },
  { id: 'edit', group: 'Task', label: 'Edit description', keys: ['e'] },
  { id: 'full', group: 'Task', label: 'Full page', keys: ['f'] },
  { id: 'previous-task', group: 'Task', label: 'Previous task', keys: ['Shift+k'] },
  { id: 'next-task', group: 'Task', label: 'Next task', keys: ['Shift+j'] },
  { id: 'overview', group: 'Task', label: 'Overview', keys: ['i'] },
  { id: 'agent', group: 'Task', label: 'Agent', keys: ['t'] },
  { id: 'changes', group: 'Task', label: 'Changes', keys: ['d'] },
  { id: 'review', group: 'Task', label: 'Review', keys: ['r'] },
  { id: 'pull-request', group: 'Task', label: 'Pull request', keys: ['q'] },
  { id: 'pull-open', group: 'Task', label: 'Open pull request', keys: [] },
  { id: 'pull-merge', group: 'Task', label: 'Merge pull request at the forge', keys: [] },
  { id: 'pull-page', group: 'Task', label: 'View pull request at the forge', keys: ['Shift+q'] },
  { id: 'pull-copy', group: 'Task', label: 'Copy link of pull request', keys: [] },
  { id: 'pull-check', group: 'Task', label: 'Check pull request now', keys: [] },
  { id: 'activity', group: 'Task', label: 'Activity', keys: ['w'] },
  { id: 'previous-file', group: 'Changes', label: 'Previous file or chapter', keys: ['[Shift]+['] },
  { id: 'next-file', group: 'Changes', label: 'Next file or chapter', keys: ['[Shift]+]'] },
  { id: 'previous-change', group: 'Changes', label: 'Previous change', keys: ['p'] },
  { id: 'next-change', group: 'Changes', label: 'Next change', keys: ['n'] },
  { id: 'open-line', group: 'Changes', label: 'Open line in editor', keys: ['o'] },
  { id: 'viewed', group: 'Changes', label: 'Mark as viewed or read', keys: ['v'] },
  { id: 'next-unread', group: 'Changes', label: 'Next change not read', keys: ['u'] },
  { id: 'unfold', group: 'Changes', label: 'Open or fold a folded chapter', keys: ['z'] },
  { id: 'reading', group: 'Changes', label: 'Switch between chapters and files', keys: ['b'] },
  { id: 'read', group: 'Inbox', label: 'Mark as read or unread', keys: ['u'] },
  { id: 'remove', group: 'Inbox', label: 'Delete notification', keys: ['Delete', 'Backspace'] },
] as const satisfies readonly CommandInfo[]

/** What keys do in a list of lines; they can't be changed. */
export const fixedKeys: readonly Omit<CommandInfo, 'id'>[] = [
  { group: 'Changes', label: 'Go through the lines', keys: ['ArrowUp', 'ArrowDown'] },
  { group: 'Changes', label: 'Select several lines', keys: ['Shift+ArrowUp', 'Shift+ArrowDown'] },
  { group: 'Changes', label: 'Comment on the selected lines', keys: ['Enter'] },
  { group: 'Changes', label: 'Save the comment', keys: ['$mod+Enter'] },
  { group: 'Changes', label: 'Save it and request changes', keys: ['$mod+Shift+Enter'] },
]

export type CommandId = (typeof commandList)[number]['id']
