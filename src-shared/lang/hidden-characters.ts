/**
 * Control characters but for tab and line ends, invisible characters, and characters that change the order of others:
 * bidirectional controls, zero-width characters, tags and the like. Within an emoji, joiners and variation selectors
 * are visible.
 */
const hidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\r(?![\r\n]|$)|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|(?<!\p{Emoji})[\ufe00-\ufe0f]/gu

/** The hidden characters that no language needs: control characters and characters that force a direction. */
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Replaces hidden characters by `<U+202E>`. */
export function escapeHidden(text: string): string {
  return text.replace(hidden, nameOfCharacter)
}

/** Replaces control characters alone by `<U+202E>`, as prose needs it: some scripts have invisible characters. */
export function escapeControls(text: string): string {
  return text.replace(control, nameOfCharacter)
}

/** Returns a name or title without control characters, with which it could pass for what stands beside it. */
export function withoutControls(text: string): string {
  return text.replace(control, '')
}

function nameOfCharacter(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`
}
