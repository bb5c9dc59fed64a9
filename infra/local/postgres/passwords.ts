import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** The passwords of the roles that may connect, in a file that only the user who runs keyledger can read. */
const Passwords = z.object({ app: z.string().min(40), schema: z.string().min(40) })
export type Passwords = z.infer<typeof Passwords>

const fileOf = (directory: string): string => join(directory, 'passwords.json')

/** Reads the passwords of a cluster; undefined when they are missing or invalid. */
export function readPasswords(directory: string): Passwords | undefined {
  try {
    return Passwords.parse(JSON.parse(readFileSync(fileOf(directory), 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || isMissing(error)) return undefined
    throw error
  }
}

/**
 * Reads the passwords of a cluster, or creates them. Of two processes that create them at once, one succeeds.
 */
export function ensurePasswords(directory: string): Passwords {
  const found = readPasswords(directory)
  if (found) return found
  const file = fileOf(directory)
  const draft = `${file}.${process.pid}`
  rmSync(draft, { force: true })
  const descriptor = openSync(draft, 'wx', 0o600)
  writeFileSync(descriptor, JSON.stringify({ app: newPassword(), schema: newPassword() }))
  fsyncSync(descriptor)
  closeSync(descriptor)
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // Another process was faster, or the existing file is invalid.
    if (!readPasswords(directory)) rmSync(file, { force: true })
  } finally {
    rmSync(draft)
  }
  return ensurePasswords(directory)
}

const newPassword = (): string => randomBytes(32).toString('base64url')

/** Identifies a set of passwords without revealing them: each has 256 random bits. */
export function fingerprintOf(passwords: Passwords): string {
  return createHash('sha256').update(`${passwords.app} ${passwords.schema}`).digest('hex')
}

/**
 * The value that Postgres stores for a password, so that the password itself is never sent to it.
 * @see https://www.postgresql.org/docs/current/catalog-pg-authid.html
 */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const iterations = 4096
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const keyed = (key: string) => createHmac('sha256', salted).update(key).digest()
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const serverKey = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'
