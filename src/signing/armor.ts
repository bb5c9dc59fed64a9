/** What can be carried between a machine and its vendor as text. */
export type Kind = 'LICENSE' | 'REQUEST' | 'RELEASE' | 'WITHDRAWN' | 'RELAY REQUEST' | 'RELAY RELEASE'

const border = (which: 'BEGIN' | 'END', kind: Kind): string => `-----${which} KEYLEDGER ${kind}-----`

/** A token as a text to paste or to keep as a file, in lines of 64 characters as PEM has them (RFC 7468). */
export const armored = (kind: Kind, token: string): string =>
  `${[border('BEGIN', kind), ...(token.match(/.{1,64}/g) ?? []), border('END', kind)].join('\n')}\n`

/**
 * The token in a text that was pasted or read from a file, also without its first and last line, as a QR code has it.
 * @returns undefined for a text of another kind
 */
export function tokenIn(kind: Kind, text: string): string | undefined {
  const plain = text.replace(/\s/g, '')
  const [begin, end] = [border('BEGIN', kind), border('END', kind)].map((line) => line.replace(/\s/g, ''))
  if (!plain.startsWith('-----')) return plain
  return begin && end && plain.startsWith(begin) && plain.endsWith(end)
    ? plain.slice(begin.length, -end.length)
    : undefined
}
