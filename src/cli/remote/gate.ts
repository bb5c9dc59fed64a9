import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { pathTo } from '../../description/path.ts'
import { CommandInterrupted, CommandRefused } from '../../terminal/exit-codes.ts'
import { untilInterrupted } from '../../terminal/interruption.ts'
import { printToStderr } from '../../terminal/output.ts'
import { type Call, type Client, retryAfterIn } from './client.ts'
import { configDirectory, readPrivate, writePrivate } from './private-file.ts'

const PendingAnswer = z.object({
  confirmation: z.object({
    id: z.string(),
    status: z.literal('pending'),
    approveUrl: z.string(),
    expiresInSeconds: z.number(),
  }),
})
const Status = z.object({ status: z.enum(['pending', 'approved', 'denied', 'expired']) })

export type GateOptions = {
  /** A confirmation that was asked for earlier. */
  confirmation?: string | undefined
  /** The words of this command, to run it again after an interruption. */
  words: readonly string[]
}

/**
 * Sends a request. If a person has to approve it first, prints where, waits, and sends it again with the approval.
 * @throws CommandRefused when it is denied or expires, CommandInterrupted on Ctrl-C
 */
export async function openApproved(client: Client, call: Call, options: GateOptions): Promise<Response> {
  if (options.confirmation !== undefined) return confirm(client, call, options.confirmation, options.words)
  const response = await client.open(call)
  if (response.status !== 202) return response
  const text = await response.text()
  const answer = PendingAnswer.safeParse(JSON.parse(text))
  // Work that goes on in the background is answered with 202 too.
  if (!answer.success) return new Response(text, response)
  const { id, approveUrl, expiresInSeconds } = answer.data.confirmation
  keepPending(id, { words: [...options.words], directory: process.cwd(), askedAt: new Date().toISOString() })
  // From here on it listens for Ctrl-C, which the message offers.
  const confirmed = confirm(client, call, id, options.words)
  printToStderr(
    [
      'Another person has to approve this in the dashboard:',
      `  ${approveUrl}`,
      `Waiting for confirmation ${id}, at most ${timeWords(expiresInSeconds)}. Press Ctrl-C to stop waiting.`,
    ].join('\n'),
  )
  return confirmed
}

/** `10 minutes`, `24 hours` */
function timeWords(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`
}

async function confirm(client: Client, call: Call, id: string, words: readonly string[]): Promise<Response> {
  await untilApproved(client, id, words)
  const headers = { ...call.headers, 'x-service-confirmation': id }
  // An approval can be used once, so the request is not sent again when its answer is lost.
  const response = await client.open({ ...call, headers, repeatable: false })
  forgetPending(id)
  return response
}

async function untilApproved(client: Client, id: string, words: readonly string[]): Promise<void> {
  const interruption = untilInterrupted()
  const { signal } = interruption
  try {
    for (;;) {
      const path = pathTo`/v1/confirmations/${id}`
      const { body, headers } = await client.call({ method: 'GET', path })
      const { status } = Status.parse(body)
      if (status === 'approved') return
      if (status !== 'pending') forgetPending(id)
      if (status === 'denied') throw new CommandRefused(`Confirmation ${id} was denied. Nothing was changed.`)
      if (status === 'expired') {
        throw new CommandRefused(
          `Confirmation ${id} has expired. Nothing was changed. Run the command again.`,
        )
      }
      const seconds = retryAfterIn(headers) ?? 2
      await pause(seconds * 1000, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) throw interrupted(id, words)
    }
  } finally {
    interruption.end()
  }
}

function interrupted(id: string, words: readonly string[]): CommandInterrupted {
  const again = words.includes('--confirmation') ? words : [...words, '--confirmation', id]
  return new CommandInterrupted(
    [
      `Stopped waiting. The confirmation ${id} is still open. To go on:`,
      `  keyledger confirmations resume ${id}`,
      `or run the same command with the confirmation: keyledger ${again.map(asWord).join(' ')}`,
    ].join('\n'),
  )
}

/** A word as a shell reads it. */
const asWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

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
function keepPending(confirmationId: string, pending: Pending): boolean {
  const oldest = new Date(Date.parse(pending.askedAt) - keptMs).toISOString()
  const recent = Object.entries(readAll()).filter(([, { askedAt }]) => askedAt > oldest)
  return tryWrite({ ...Object.fromEntries(recent), [confirmationId]: pending })
}

/** Forgets a command that has ended. */
function forgetPending(confirmationId: string): void {
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
