import { z } from 'zod'
import { metadataIn } from '../../http/schemas.ts'

const tooMany = 'Enter at most 50 pairs, with names up to 64 and values up to 1,024 characters.'

/** A text area with metadata: `name: value`, a pair in each line. */
export const pairs = z
  .string()
  .optional()
  .default('')
  .transform((text, context) => {
    const complain = (message: string) => {
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    }
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
    const entries = lines.map(pairOf)
    const wrong = entries.findIndex(([name]) => name === '')
    if (wrong >= 0) return complain(`Line ${wrong + 1} is not a pair. Write it as name: value.`)
    if (new Set(entries.map(([name]) => name)).size < entries.length) return complain('A name appears twice.')
    return metadataIn.safeParse(Object.fromEntries(entries)).data ?? complain(tooMany)
  })

function pairOf(line: string): [name: string, value: string] {
  const at = line.indexOf(':')
  return at < 0 ? ['', line] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}

/** The same metadata as a member types it. */
export const pairsText = (metadata: Readonly<Record<string, string>>): string =>
  Object.entries(metadata)
    .map(([name, value]) => `${name}: ${value.replaceAll(/\s+/g, ' ')}`)
    .join('\n')
