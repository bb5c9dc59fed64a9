import { join } from 'node:path'
import { z } from 'zod'
import { configDirectory, readPrivate, writePrivate } from './private-file.ts'

const Pending = z.object({
  /** The words of the command that asked, to run it again. */
  words: z.array(z.string()),
  /** Where it ran: its words may name files. */
  directory: z.string(),
  askedAt: z.string(),
})
/** A command that waits for an approval. */
export type Pending = z.infer<typeof Pending>

const Waiting = z.record(z.string(), Pending)

/** Longer than any confirmation can be approved and used. */
const keptMs = 24 * 3_600_000

const pendingFile = (): string => join(configDirectory(), 'pending.json')

/** The command that asked for a confirmation on this machine. */
export const findPending = (confirmationId: string): Pending | undefined => readAll()[confirmationId]

/**
 * Keeps a command until its confirmation is used.
 * @returns whether it could be written; a build machine may have no directory for it
 */
export function keepPending(confirmationId: string, pending: Pending): boolean {
  const oldest = new Date(Date.parse(pending.askedAt) - keptMs).toISOString()
  const recent = Object.entries(readAll()).filter(([, { askedAt }]) => askedAt > oldest)
  return tryWrite({ ...Object.fromEntries(recent), [confirmationId]: pending })
}

/** Forgets a command that has ended. */
export function forgetPending(confirmationId: string): void {
  const { [confirmationId]: ended, ...others } = readAll()
  if (ended) tryWrite(others)
}

function readAll(): Record<string, Pending> {
  try {
    return Waiting.parse(JSON.parse(readPrivate(pendingFile()) ?? '{}'))
  } catch {
    // It only saves typing: a damaged file is replaced.
    return {}
  }
}

function tryWrite(waiting: Record<string, Pending>): boolean {
  try {
    writePrivate(pendingFile(), `${JSON.stringify(waiting, null, 2)}\n`)
    return true
  } catch {
    return false
  }
}
