import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The file of keyledger's mark, an SVG. */
export const iconFile = fileURLToPath(new URL('./icon.svg', import.meta.url))

/** @returns keyledger's mark, an SVG */
export const readIcon = (): Buffer => readFileSync(iconFile)
