import { NotProved, readingOf } from './not-proved.ts'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @returns bytes as text. @throws NotProved for bytes that are not UTF-8, of which programs show different texts */
export function textIn(what: string, bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    throw new NotProved('malformed', `${what} is not UTF-8 text. Get it again.`)
  }
}

/**
 * Parses JSON.
 * @throws NotProved for anything else, and for two members of one name, of which programs take different ones
 */
export function readJson(what: string, text: string): unknown {
  const value = readingOf(what, (): unknown => JSON.parse(text))
  const twice = repeatedMember(text)
  if (twice !== undefined)
    throw new NotProved('malformed', `${what} has the member ${twice} twice. Get it again.`)
  return value
}

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

/** The first name that an object of valid JSON has twice. */
function repeatedMember(text: string): string | undefined {
  const objects: (Set<string> | undefined)[] = []
  let last = ''
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{') objects.push(new Set())
    else if (token === '[') objects.push(undefined)
    else if (token === '}' || token === ']') objects.pop()
    else if (token === ':') {
      const name = String(JSON.parse(last))
      const names = objects.at(-1)
      if (names?.has(name)) return name
      names?.add(name)
    }
    last = token
  }
  return undefined
}

/** Whether a value of JSON is an object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether an object has these members, and no others. */
export const hasExactly = (value: Record<string, unknown>, names: readonly string[]): boolean =>
  Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name))
