/** Returns a title for each line that says something, without the mark of a list or checklist. */
export function titleLines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim().replace(/^([-*+•]|\d{1,3}[.)])\s+(\[[ xX]?\]\s+)?/, ''))
    .filter((line) => line !== '')
}
