/** A mark of GitLab that folds a section. */
const section = /section_(?:start|end):\d+:[^\r\n]*\r?/g
const escape = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g
/** The time at the begin of a line. */
const time = /^\uFEFF?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d) ?/gm

/** Takes what only a terminal or the forge's page reads out of a log: colors, folds, times. */
export function cleanLog(text: string): string {
  return text
    .replace(section, '')
    .replace(escape, '')
    .replace(/\r\n/g, '\n')
    .replace(/^[^\n]*\r(?=[^\n])/gm, '')
    .replace(time, '')
}
