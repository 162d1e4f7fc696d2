/** Two ways to look at a run. */
export const views = [
  { id: 'readable', label: 'Readable' },
  { id: 'terminal', label: 'Terminal' },
] as const
