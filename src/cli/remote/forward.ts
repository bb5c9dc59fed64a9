import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { newWebhookSecret } from '../../credentials/webhook-secret.ts'
import { CommandMisused } from '../../terminal/exit-codes.ts'
import { signatureHeaders } from '../../webhooks/signature.ts'
import { configDirectory, readPrivate, writePrivate } from './private-file.ts'
import type { Session } from './profiles.ts'

/** What a local program answered. */
export type Forwarded = {
  /** Null without an answer. */
  status: number | null
  durationMs: number
  /** Why there is no answer. */
  error: string | null
  /** The beginning of the answer. */
  excerpt: string
}

/** As long as a delivery waits. */
const timeLimitMs = 15_000
const maxExcerpt = 500

/** Parses where events are forwarded to; a host without a scheme means http. @throws CommandMisused */
export function forwardAddress(given: string): string {
  const address = /^https?:\/\//i.test(given) ? given : `http://${given}`
  if (URL.canParse(address)) return new URL(address).href
  throw new CommandMisused(`${given} is not an address. Write it as localhost:3000/hooks.`)
}

/**
 * Sends a payload to a program as a delivery does: the same headers, signed with the given secret.
 * @param isTest adds the header of test events
 */
export async function forward(
  address: string,
  secret: string,
  payload: { id: string },
  { isTest = false }: { isTest?: boolean } = {},
): Promise<Forwarded> {
  const body = JSON.stringify(payload)
  const timestamp = Math.floor(Date.now() / 1000)
  const started = performance.now()
  const elapsed = () => Math.round(performance.now() - started)
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'keyledger',
        ...signatureHeaders([secret], { id: payload.id, timestamp, body }),
        ...(isTest && { 'x-service-test': 'true' }),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeLimitMs),
    })
    const excerpt = (await response.text()).slice(0, maxExcerpt)
    return { status: response.status, durationMs: elapsed(), error: null, excerpt }
  } catch (error) {
    return { status: null, durationMs: elapsed(), error: reasonOf(error), excerpt: '' }
  }
}

/** Whether a delivery with this answer would count as delivered. */
export const isDelivered = ({ status }: Forwarded): boolean =>
  status !== null && status >= 200 && status < 300

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'no answer within 15 seconds'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error) return cause.message || ('code' in cause ? String(cause.code) : cause.name)
  return String(cause)
}

const Listener = z.object({
  /** Signs what is forwarded. It stays the same, so that the local program need not be set up again. */
  secret: z.string(),
  /** Where the last `listen` forwards to. */
  forwardTo: z.string().nullable(),
  /** The process that forwards, which may have ended. */
  processId: z.int().nullable(),
})
type Listener = z.infer<typeof Listener>
const Listeners = z.record(z.string(), Listener)

const listenersFile = (): string => join(configDirectory(), 'listeners.json')
/** Each profile has a listener, and each server that is called with a token of the environment. */
const nameOf = ({ profile, server }: Session): string => profile ?? server

/** The secret of a session's listener, made when it is first needed. */
export function listenerSecret(session: Session): string {
  const found = readListeners()[nameOf(session)]
  if (found) return found.secret
  const secret = newWebhookSecret(randomBytes)
  keep(session, { secret, forwardTo: null, processId: null })
  return secret
}

/** Notes that this process forwards events. @param forwardTo null when it stops */
export function noteListening(session: Session, forwardTo: string | null): void {
  const secret = listenerSecret(session)
  keep(session, { secret, forwardTo, processId: forwardTo === null ? null : process.pid })
}

/** Where `listen` forwards to on this machine now; undefined when none runs for the session. */
export function runningListener(session: Session): string | undefined {
  const { forwardTo, processId } = readListeners()[nameOf(session)] ?? {}
  return forwardTo != null && processId != null && isRunning(processId) ? forwardTo : undefined
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch {
    return false
  }
}

function keep(session: Session, listener: Listener): void {
  const listeners = { ...readListeners(), [nameOf(session)]: listener }
  try {
    writePrivate(listenersFile(), `${JSON.stringify(listeners, null, 2)}\n`)
  } catch {
    // A build machine may have no directory for it; then the next listener has another secret.
  }
}

function readListeners(): Record<string, Listener> {
  const text = readPrivate(listenersFile())
  const parsed = Listeners.safeParse(text === undefined ? {} : jsonIn(text))
  // A damaged file costs a new secret.
  return parsed.success ? parsed.data : {}
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
