/** A webhook, as it was received. */
export type ReceivedWebhook = {
  /** The body exactly as it was sent: verify before parsing. */
  body: string | Uint8Array
  /** The headers of the request, as `Headers` or as Node has them. */
  headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>
}

/** The fields of every event; more are listed in the reference of webhooks. */
export type WebhookEvent = {
  /** The same for every attempt: ignore an id that you have handled. */
  id: string
  /** Unix seconds. */
  created: number
  version: string
  event: string
  tenant_id: string
  license_id: string
  product_id: string
  customer_email: string | null
  test: boolean
  sequence: number | null
  [field: string]: unknown
}

/** A webhook that must not be trusted. */
export class WebhookRefused extends Error {
  readonly reason: 'unsigned' | 'timestamp' | 'signature' | 'malformed'

  constructor(reason: WebhookRefused['reason'], message: string) {
    super(message)
    this.name = 'WebhookRefused'
    this.reason = reason
  }
}

/**
 * Verifies a webhook and returns its event. At least one of the two schemes must be there, and each that is there must
 * hold: `webhook-signature` (Standard Webhooks) and `X-Service-Signature`. Signatures are compared in constant time.
 * @param secret `whsec_…`; several while a secret is being replaced
 * @param options `now`: milliseconds since 1970; `toleranceSeconds`: how far the timestamp may be away, 300 by default
 * @throws WebhookRefused
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  { body, headers }: ReceivedWebhook,
  { now = Date.now(), toleranceSeconds = 300 }: { now?: number; toleranceSeconds?: number } = {},
): Promise<WebhookEvent> {
  const secrets = typeof secret === 'string' ? [secret] : secret
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const schemes = [standardScheme(headers), ownScheme(headers)].filter((scheme) => scheme !== undefined)
  if (schemes.length === 0) throw new WebhookRefused('unsigned', 'the request has no signature')
  for (const { timestamp, prefix, signatures, keyOf } of schemes) {
    if (!(Math.abs(now / 1000 - timestamp) <= toleranceSeconds)) {
      throw new WebhookRefused('timestamp', 'the timestamp is missing, or too far from the present')
    }
    if (!(await isSigned(secrets.map(keyOf), joined(prefix, bytes), signatures))) {
      throw new WebhookRefused('signature', 'no signature matches')
    }
  }
  return eventIn(bytes)
}

type Scheme = {
  timestamp: number
  /** What is signed before the body. */
  prefix: string
  signatures: readonly Uint8Array[]
  keyOf: (secret: string) => Uint8Array
}

function standardScheme(headers: ReceivedWebhook['headers']): Scheme | undefined {
  const header = headerOf(headers, 'webhook-signature')
  if (header === undefined) return undefined
  const stamp = headerOf(headers, 'webhook-timestamp') ?? ''
  return {
    timestamp: secondsIn(stamp),
    prefix: `${headerOf(headers, 'webhook-id') ?? ''}.${stamp}.`,
    signatures: header.split(' ').flatMap((one) => (one.startsWith('v1,') ? fromBase64(one.slice(3)) : [])),
    keyOf: (secret) => fromBase64(secret.replace(/^whsec_/, ''))[0] ?? new Uint8Array(),
  }
}

function ownScheme(headers: ReceivedWebhook['headers']): Scheme | undefined {
  const header = headerOf(headers, 'x-service-signature')
  if (header === undefined) return undefined
  const parts = header.split(',')
  const stamp = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
  return {
    timestamp: secondsIn(stamp),
    prefix: `${stamp}.`,
    signatures: parts.flatMap((one) => (/^v1=[0-9a-f]{64}$/.test(one) ? [fromHex(one.slice(3))] : [])),
    keyOf: (secret) => new TextEncoder().encode(secret),
  }
}

const secondsIn = (text: string): number => (/^\d{1,12}$/.test(text) ? Number(text) : Number.NaN)

function headerOf(headers: ReceivedWebhook['headers'], name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const all: [string, unknown][] = Object.entries(headers)
  const entry = all.find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof entry === 'string' ? entry : undefined
}

/** `verify` of WebCrypto compares in constant time. */
async function isSigned(
  keys: Uint8Array[],
  text: Uint8Array,
  signatures: readonly Uint8Array[],
): Promise<boolean> {
  let matches = false
  for (const key of keys.filter(({ length }) => length > 0)) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const imported = await crypto.subtle.importKey('raw', copyOf(key), algorithm, false, ['verify'])
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', imported, copyOf(signature), copyOf(text))) matches = true
    }
  }
  return matches
}

const copyOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)

function joined(prefix: string, body: Uint8Array): Uint8Array {
  const first = new TextEncoder().encode(prefix)
  const text = new Uint8Array(first.length + body.length)
  text.set(first)
  text.set(body, first.length)
  return text
}

/** @returns nothing for what is no base64 */
function fromBase64(text: string): Uint8Array[] {
  try {
    return [Uint8Array.from(atob(text), (character) => character.charCodeAt(0))]
  } catch {
    return []
  }
}

const fromHex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

function eventIn(bytes: Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof event === 'object' && event !== null && 'event' in event && 'id' in event)
      return event as WebhookEvent
  } catch {
    // Handled below.
  }
  throw new WebhookRefused('malformed', 'the body is not an event')
}
