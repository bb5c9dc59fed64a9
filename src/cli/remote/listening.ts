import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { newWebhookSecret } from '../../credentials/webhook-secret.ts'
import { configDirectory, readPrivate, writePrivate } from './private-file.ts'
import type { Session } from './session.ts'

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
