import type { RandomBytes } from './random.ts'

/** Makes the secret of a link, a cookie or the like: 256 random bits in base64url. */
export const newSecret = (randomBytes: RandomBytes): string =>
  Buffer.from(randomBytes(32)).toString('base64url')

/** Whether a text has the form of {@link newSecret}; any other needs no look-up. */
export const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)
