/** No input is nested deeper. */
export const deepestJson = 32

/** What a JSON text holds, as far as a scan of its brackets and colons tells. */
export type JsonSize = {
  tooDeep: boolean
  /** How many fields its objects have together. */
  fields: number
  /** The names of the first few, as written. */
  first: readonly string[]
}

const quote = 0x22
const colon = 0x3a
const backslash = 0x5c

/**
 * Measures a JSON text before anything is built of it: building a small text can take much memory and time. Reads the text
 * once. A text that is no JSON gets a size that means nothing.
 * @param named how many names to return
 */
export function sizeOfJson(text: string, named = 3): JsonSize {
  const first: string[] = []
  let fields = 0
  let depth = 0
  let from = 0
  let to = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      from = at + 1
      to = endOfString(text, from)
      at = to
    } else if (code === colon) {
      fields++
      if (first.length < named) first.push(text.slice(from, to))
    } else if (code === 0x5b || code === 0x7b) {
      depth++
      if (depth > deepestJson) return { tooDeep: true, fields, first }
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return { tooDeep: false, fields, first }
}

/** The index of the quotation mark that ends the string that begins at `from`, or the length of the text. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at
    while (before > from && text.charCodeAt(before - 1) === backslash) before--
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}

/**
 * Parses JSON of a client, if it is not nested too deep and has at most so many fields.
 * @returns undefined for anything else
 */
export function boundedJson(text: string, mostFields: number): unknown {
  const { tooDeep, fields } = sizeOfJson(text, 0)
  if (tooDeep || fields > mostFields) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
