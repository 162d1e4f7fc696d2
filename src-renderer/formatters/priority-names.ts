/** What each priority is called, by its number. */
export const priorityNames = ['None', 'Low', 'Medium', 'High', 'Urgent'] as const
