/** Names of the priorities, by number. */
export const priorityNames = ['None', 'Low', 'Medium', 'High', 'Urgent'] as const
