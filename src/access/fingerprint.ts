import { createHmac } from 'node:crypto'
import { asciiEmail } from '../domain/values.ts'
import type { MasterKey } from '../vault/master-key.ts'

/**
 * A keyed hash to look up something short or guessable without revealing it: an email address, a user code, or what a provider calls a person.
 */
export type Fingerprint = (
  kind: 'email' | 'user code' | 'activation code' | 'identity' | 'customer identity',
  text: string,
) => string

export function createFingerprint(master: Pick<MasterKey, 'indexing'>): Fingerprint {
  return (kind, text) =>
    createHmac('sha256', master.indexing)
      .update(JSON.stringify(['fingerprint', kind, text]))
      .digest('hex')
}

/** Normalizes the spellings of an email address. */
export function sameMailbox(email: string): string {
  const typed = email.trim()
  return (asciiEmail(typed) ?? typed).normalize('NFC').toLowerCase()
}
