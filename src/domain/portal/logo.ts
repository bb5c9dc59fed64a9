/** The kinds of pictures that a logo may be. SVG is none of them: it can hold scripts and refer to other hosts. */
export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const
export type LogoType = (typeof logoTypes)[number]

export const maxLogoBytes = 100_000

const startsWith = (bytes: Uint8Array, start: readonly number[], from = 0): boolean =>
  start.every((byte, index) => bytes[from + index] === byte)

const ascii = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0))

/** The kind of a picture, by its first bytes and by nothing that its sender claims; undefined for any other file. */
export function logoTypeOf(bytes: Uint8Array): LogoType | undefined {
  if (startsWith(bytes, [0x89, ...ascii('PNG'), 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png'
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'image/jpeg'
  if (startsWith(bytes, ascii('RIFF')) && startsWith(bytes, ascii('WEBP'), 8)) return 'image/webp'
  return undefined
}
