import { createHmac } from 'node:crypto'
import { asciiEmail } from '../domain/values.ts'
import type { MasterKey } from '../vault/master-key.ts'

/**
 * A keyed fingerprint by which something short or guessable is found again, without what is stored telling it: an
 * e-mail address, or a code that people type.
 */
export type Fingerprint = (kind: 'email' | 'user code', text: string) => string

export function createFingerprint(master: Pick<MasterKey, 'indexing'>): Fingerprint {
  return (kind, text) =>
    createHmac('sha256', master.indexing)
      .update(JSON.stringify(['fingerprint', kind, text]))
      .digest('hex')
}

/** The same mailbox in whichever spelling. */
export function sameMailbox(email: string): string {
  const typed = email.trim()
  return (asciiEmail(typed) ?? typed).normalize('NFC').toLowerCase()
}
