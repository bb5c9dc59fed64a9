import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The path of keyledger's icon, an SVG. */
export const iconFile = fileURLToPath(new URL('./icon.svg', import.meta.url))

/** @returns keyledger's icon, an SVG */
export const readIcon = (): Buffer => readFileSync(iconFile)
