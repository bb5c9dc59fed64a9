/** The last code point: sorts after every other one, byte by byte, so it ends the range of a beginning. */
export const lastCharacter = '\u{10ffff}'
