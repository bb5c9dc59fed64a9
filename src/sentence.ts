export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** A message as a sentence: with a capital letter, and a full stop unless it ends otherwise. */
export const sentence = (text: string): string => `${capitalized(text)}${/[.!?]$/.test(text) ? '' : '.'}`
