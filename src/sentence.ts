/** `1 active device fails`, `2 active devices fail`: a count with the words that agree with it. */
export const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** A message as a sentence: with a capital letter, and a full stop unless it ends otherwise. */
export const sentence = (text: string): string => `${capitalized(text)}${/[.!?]$/.test(text) ? '' : '.'}`
