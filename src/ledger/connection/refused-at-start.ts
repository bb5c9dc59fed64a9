import { connect } from 'node:tls'
import { parseAddress, type StoreAddress } from './address.ts'
import { aboutCertificates, classifyError } from './errors.ts'
import type { UnavailableReason } from './unavailable.ts'

/** The event store cannot be used with this address; the message says what to change. */
export class EventStoreRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'EventStoreRefused'
  }
}

const variable = 'KEYLEDGER_EVENTSTORE_URL'

/**
 * Explains why the first request to the event store failed, without secrets of the address.
 * @param doing the attempted action, as in "read $all"
 * @returns an EventStoreRefused, or the original error when it has another cause than the address or the user
 */
export async function explainRefusal(error: unknown, url: string, doing: string): Promise<unknown> {
  if (url.startsWith('unix:')) return error
  const address = parseAddress(url)
  const causes = [...causesOf(error)]
  const reasons = new Set(causes.map(reasonOf))
  const refused = (sentence: string) => new EventStoreRefused(sentence, error)
  if (reasons.has('unauthenticated')) {
    return refused(
      `The event store rejects the user or the password in ${variable}. Correct them, and percent-encode ` +
        'all characters other than letters and digits.',
    )
  }
  if (reasons.has('denied')) return refused(forbiddenMessage(address, doing))
  if (reasons.has('certificate')) return refused(certificateMessage(address, causes.map(messageOf).join(' ')))
  if (!noAnswerReasons.some((reason) => reasons.has(reason))) return error
  const tlsError = address.insecure ? undefined : await tlsProblem(address)
  return refused(tlsError === undefined ? unreachableMessage(address) : certificateMessage(address, tlsError))
}

/** Reasons that mean that no event store responded at the address. */
const noAnswerReasons = ['unreachable', 'no_node', 'no_answer'] as const

/** @throws EventStoreRefused for an address that the client cannot use at all */
export function refuseUnusable(error: unknown): never {
  if (error instanceof Error && 'path' in error && typeof error.path === 'string') {
    throw new EventStoreRefused(
      `The file ${error.path} in ${variable} cannot be read. Set tlsCAFile=<path> to the certificate of the authority ` +
        'that signed the certificates of the event store.',
      error,
    )
  }
  // The client's message quotes the address, which includes the password.
  throw new EventStoreRefused(
    `${variable} is not a valid event store URL. Write it as esdb://user:password@host:2113, with ?tls=false ` +
      'for a server without TLS.',
  )
}

const forbiddenMessage = ({ user }: StoreAddress, doing: string): string =>
  user
    ? `The event store does not allow the user in ${variable} to ${doing}. Grant the user the rights listed in ` +
      'docs/operating/event-store.md, or use one that has them.'
    : `The event store does not allow anonymous clients to ${doing}. Add the user and the password to ${variable}, ` +
      'as in esdb://user:password@host:2113.'

function unreachableMessage({ target, seeds, insecure }: StoreAddress): string {
  return (
    `No event store responds at ${target ?? seeds.join(', ')}. Start it, or correct ${variable}` +
    `${insecure ? ' (a server with TLS needs a URL without tls=false)' : ''}.`
  )
}

const handshakeTimeoutMs = 2000

/**
 * Opens a TLS connection only, because the search for a leader reports a certificate problem like a node that
 * is down.
 * @returns the certificate or protocol error of the first node; undefined when there is none
 */
async function tlsProblem({ target, seeds, certificateAuthority }: StoreAddress) {
  const [host = '', port] = (target ?? seeds[0] ?? '').split(':')
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const ca = certificateAuthority && { ca: certificateAuthority }
  const options = { host, port: Number(port), servername: host, ALPNProtocols: ['h2'], ...ca }
  const socket = connect({ ...options, timeout: handshakeTimeoutMs })
  socket.once('secureConnect', () => resolve(undefined))
  socket.once('timeout', () => resolve(undefined))
  socket.once('error', ({ message }: Error) => resolve(aboutCertificates.test(message) ? message : undefined))
  return promise.finally(() => socket.destroy())
}

/** Translates a TLS error of Node or OpenSSL into what the operator can do. */
function certificateMessage({ target, seeds }: StoreAddress, tlsError: string): string {
  const node = target ?? seeds.join(', ')
  if (/wrong version number/i.test(tlsError)) {
    return `The server at ${node} does not use TLS. Add tls=false to ${variable}, or use a port with TLS.`
  }
  if (/altnames|IP_OR_NAME|hostname/i.test(tlsError)) {
    return `The certificate of the event store at ${node} is for a different host name. Use a host name from the certificate in ${variable}.`
  }
  if (/expired|not yet valid/i.test(tlsError)) {
    return `The certificate of the event store at ${node} is expired or not yet valid. Renew it, and check the clock of this machine.`
  }
  return (
    `The certificate of the event store at ${node} is not signed by a trusted authority. Set tlsCAFile=<path> in ${variable} ` +
    `to the certificate of the right authority.`
  )
}

function* causesOf(error: unknown): Iterable<unknown> {
  for (let cause = error; cause !== undefined && cause !== null; ) {
    yield cause
    cause = cause instanceof Error ? cause.cause : undefined
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '')

function reasonOf(error: unknown): UnavailableReason | undefined {
  const classified = classifyError(error)
  return classified.kind === 'unavailable' ? classified.reason : undefined
}
