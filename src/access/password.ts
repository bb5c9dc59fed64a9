import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'

/** OWASP's first recommendation for argon2id, the library's default: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

export const minPasswordLength = 12
export const maxPasswordLength = 200

/**
 * Hashing is the most expensive work that an anonymous request can cause. Two at a time leave the rest of
 * Node's few worker threads free for name resolution and file reads.
 */
const maxConcurrent = 2
const waiting: (() => void)[] = []
let running = 0

async function withLimit<T>(work: () => Promise<T>): Promise<T> {
  if (running >= maxConcurrent) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

/** Checks a new password. @returns undefined when it is acceptable, else what to do */
export function problemOfPassword(password: string, email: string | null): string | undefined {
  const length = [...normalized(password)].length
  if (length < minPasswordLength) return `Choose a password of at least ${minPasswordLength} characters.`
  if (length > maxPasswordLength) return `Choose a password of at most ${maxPasswordLength} characters.`
  if (new Set(normalized(password)).size < 5) return 'Choose a password with at least 5 different characters.'
  const name = email?.split('@')[0]?.toLowerCase() ?? ''
  if (name.length > 3 && normalized(password).toLowerCase().includes(name))
    return 'Choose a password that does not contain the name in your email address.'
  return undefined
}

export const hashPassword = (password: string): Promise<string> =>
  withLimit(() => hash(normalized(password), cost))

/** A hash that no password matches, so that an unknown member takes as long as a known one. */
let dummyHash: Promise<string> | undefined

/** Verifies a password. Without a hash it does the same work and returns false. */
export async function passwordFits(hashed: string | null, password: string): Promise<boolean> {
  dummyHash ??= hashPassword(randomBytes(32).toString('base64'))
  const against = hashed ?? (await dummyHash)
  const fits = await withLimit(() => verify(against, normalized(password)))
  return fits && hashed !== null
}

/** NFKC, so that the same text matches however a keyboard composes it. */
const normalized = (password: string): string => password.normalize('NFKC')
