import { slugOf } from '../values.ts'

/** `Acme Editor 2` becomes `ACMEEDIT`; a name without usable letters gets a generic prefix. */
export function keyPrefixOf(name: string): string {
  const letters = slugOf(name).replaceAll('-', '').toUpperCase().slice(0, 8)
  return letters.length >= 2 ? letters : 'KEY'
}
