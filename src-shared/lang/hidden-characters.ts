/**
 * NUL, invisible characters, and characters that change the order of others: bidirectional controls, zero-width
 * characters, tags and the like. Within an emoji, joiners and variation selectors are visible.
 */
const hidden =
  /[\u0000\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|(?<!\p{Emoji})[\ufe00-\ufe0f]/gu

/** Replaces hidden characters by `<U+202E>`. */
export function escapeHidden(text: string): string {
  return text.replace(hidden, nameOfCharacter)
}

function nameOfCharacter(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`
}
