import { CommandMisused } from '../../terminal/exit-codes.ts'
import { signatureHeaders } from '../../webhooks/signature.ts'

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
