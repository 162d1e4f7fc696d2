/** Every character that can't be seen, or that changes what is seen, as its code: people allow what they read. */
export function showHidden(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char === '\n' || char === '\t' ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
