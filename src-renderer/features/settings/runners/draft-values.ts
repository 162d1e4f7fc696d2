/** Returns the lines of a field without empty ones. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Returns the number that a field holds; undefined if it is empty. */
export const numberOf = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text))
