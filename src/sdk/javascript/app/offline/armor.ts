/** What can be carried between a machine and its vendor as text. */
type Kind = 'LICENSE' | 'REQUEST' | 'RELEASE' | 'WITHDRAWN'

/** A token as a text to paste or to keep as a file. */
export const armored = (kind: Kind, token: string): string =>
  `-----BEGIN KEYLEDGER ${kind}-----\n${token.replace(/.{1,64}/g, '$&\n')}-----END KEYLEDGER ${kind}-----\n`

/** The token in a text that was pasted or read from a file, also without its first and last line, as a QR code has it. */
export const tokenIn = (text: string): string => text.replace(/-----[A-Z ]+-----|\s/g, '')
