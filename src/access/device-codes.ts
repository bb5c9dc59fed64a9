import { type RandomBytes, randomText } from '../credentials/random.ts'
import { newSecret } from '../credentials/secret.ts'

/** Consonants only, as RFC 8628 suggests, so that no words are formed. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'

/** What a program polls with, and what it shows to a person: `letters` are those of `userCode`. Neither is stored in clear. */
export type NewCodes = { deviceCode: string; letters: string; userCode: string }

export function newCodes(random: RandomBytes): NewCodes {
  const letters = randomText(alphabet, 8, random)
  return { deviceCode: newSecret(random), letters, userCode: shownUserCode(letters) }
}

/** A user code as a person reads it. @param letters its normalized letters */
export const shownUserCode = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`

/** Normalizes a typed user code: any case, with or without the hyphen. Undefined for an invalid code. */
export function userCodeLetters(typed: string): string | undefined {
  const letters = typed.toUpperCase().replace(/[^A-Z0-9]/g, '')
  return letters.length === 8 && [...letters].every((letter) => alphabet.includes(letter))
    ? letters
    : undefined
}
